#include "runners/cuda/compile/compile_worker.h"

#include "runners/cuda/compile/header_fields.h"
#include "runners/worker/frames.h"
#include "runners/worker/sandbox.h"
#include "runners/worker/wire.h"

namespace warpath {

template <>
struct Description<cuda::CompileLimits> : Unnamed<&cuda::CompileLimits::seconds,
                                                  &cuda::CompileLimits::memory_bytes,
                                                  &cuda::CompileLimits::output_bytes> {};
template <>
struct Description<cuda::WorkerSetup> : Unnamed<&cuda::WorkerSetup::nvrtc_path,
                                                &cuda::WorkerSetup::headers,
                                                &cuda::WorkerSetup::limits> {};
template <>
struct Description<cuda::WorkerHello> : Unnamed<&cuda::WorkerHello::problem,
                                                &cuda::WorkerHello::nvrtc_version,
                                                &cuda::WorkerHello::sandbox,
                                                &cuda::WorkerHello::blocks_files> {};

}  // namespace warpath

namespace warpath::cuda {
namespace {

constexpr int kExitEnvironment = 3;
constexpr std::uint32_t kMaxRequestBytes = 96U << 20U;

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
  return encode_frame(setup);
}
bool decode(std::string_view frame, WorkerSetup& setup) {
  return decode_frame(frame, setup);
}
std::string encode(const WorkerHello& hello) {
  return encode_frame(hello);
}
bool decode(std::string_view frame, WorkerHello& hello) {
  return decode_frame(frame, hello);
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
