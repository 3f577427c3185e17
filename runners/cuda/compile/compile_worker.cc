#include "runners/cuda/compile/compile_worker.h"

#include "runners/worker/frames.h"
#include "runners/worker/sandbox.h"
#include "runners/worker/wire.h"

namespace warpath::cuda {
namespace {

constexpr int kExitEnvironment = 3;
constexpr std::uint32_t kMaxRequestBytes = 16U << 20U;

/// Loads what the compiler opens late (its builtins), and pays for the first compilation. Empty or
/// why it failed.
std::string warm_up(const Nvrtc& nvrtc) {
  const int newest = nvrtc.architectures().empty() ? 0 : nvrtc.architectures().back();
  const CompileRequest request{
      .source =
          "extern \"C\" __global__ void warm(float* o, float x) { o[threadIdx.x] = expf(x); }",
      .kernel = "warm",
      .arch = "sm_" + std::to_string(newest),
      .options = {}};
  const CompileResult result = compile(nvrtc, {}, request, CompileLimits{});
  return result.status == Status::ok ? "" : "NVRTC cannot compile an empty kernel: " + result.log;
}

}  // namespace

std::string encode(const WorkerSetup& setup) {
  WireWriter writer;
  writer.text(setup.nvrtc_path)
      .f64(setup.limits.seconds)
      .u64(setup.limits.memory_bytes)
      .u64(setup.limits.output_bytes)
      .u32(static_cast<std::uint32_t>(setup.headers.size()));
  for (const Header& header : setup.headers) writer.text(header.name).text(header.text);
  return writer.bytes();
}

bool decode(std::string_view message, WorkerSetup& setup) {
  WireReader reader(message);
  setup.nvrtc_path = reader.text();
  setup.limits.seconds = reader.f64();
  setup.limits.memory_bytes = reader.u64();
  setup.limits.output_bytes = reader.u64();
  const std::uint32_t count = reader.u32();
  for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
    std::string name = reader.text();
    setup.headers.push_back({std::move(name), reader.text()});
  }
  return reader.complete();
}

std::string encode(const WorkerHello& hello) {
  return WireWriter()
      .text(hello.problem)
      .text(hello.nvrtc_version)
      .text(hello.sandbox)
      .u8(hello.blocks_files ? 1 : 0)
      .bytes();
}

bool decode(std::string_view message, WorkerHello& hello) {
  WireReader reader(message);
  hello.problem = reader.text();
  hello.nvrtc_version = reader.text();
  hello.sandbox = reader.text();
  hello.blocks_files = reader.u8() != 0;
  return reader.complete();
}

int compile_worker_main(int in_fd, int out_fd) {
  std::string message;
  WorkerSetup setup;
  const FrameStatus first = read_frame(in_fd, message);
  if (first == FrameStatus::closed) return 0;
  if (first != FrameStatus::done || !decode(message, setup)) return kExitEnvironment;

  WorkerHello hello;
  const auto nvrtc = Nvrtc::open(setup.nvrtc_path, hello.problem);
  if (nvrtc) hello.problem = warm_up(*nvrtc);
  if (hello.problem.empty()) {
    hello.nvrtc_version = nvrtc->version();
    const Sandbox sandbox = lock_down();
    hello.sandbox = sandbox.summary();
    hello.blocks_files = sandbox.blocks_files();
  }
  if (write_frame(out_fd, encode(hello)) != FrameStatus::done || !hello.problem.empty())
    return kExitEnvironment;

  while (true) {
    const FrameStatus status = read_frame(in_fd, message, kMaxRequestBytes);
    if (status == FrameStatus::closed) return 0;
    CompileRequest request;
    if (status != FrameStatus::done || !decode(message, request)) return kExitEnvironment;
    const CompileResult result = compile(*nvrtc, setup.headers, request, setup.limits);
    if (write_frame(out_fd, encode(result)) != FrameStatus::done) return kExitEnvironment;
  }
}

}  // namespace warpath::cuda
