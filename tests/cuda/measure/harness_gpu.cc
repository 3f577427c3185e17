#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <optional>

#include "engine/base/stopwatch.h"
#include "engine/spec/compare.h"
#include "engine/spec/tensor_init.h"
#include "runners/cuda/driver/device.h"
#include "runners/cuda/driver/transfer.h"
#include "runners/cuda/measure/bench.h"
#include "runners/cuda/measure/harness.h"
#include "runners/cuda/options.h"
#include "runners/inputs/input_family.h"
#include "tests/cuda/measure/harness_bench.h"
#include "tests/cuda/support.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

DriverApi driver() {
  std::string why;
  const auto api = load_driver(why);
  REQUIRE_MESSAGE(api, why);
  return *api;
}

std::string compiled(const Device& device, const CompileRequest& request) {
  const CompileResult result = cuda::compile(cuda_test::nvrtc(), {}, request, {});
  REQUIRE_MESSAGE(result.status == Status::ok, result.log);
  CHECK(request.arch == device.arch());
  return result.cubin;
}

/// The harness on the first GPU, and memory that goes back when it does.
struct GpuBench {
  DriverApi api = driver();
  Device device{api, 0};
  Harness harness{device, compiled(device, harness_request(device.arch()))};
  Stream stream = make_stream(api);

  [[nodiscard]] DeviceMemory upload(std::span<const std::byte> bytes) const {
    DeviceMemory memory = allocate(api, std::max<std::size_t>(bytes.size(), 16));
    if (!bytes.empty()) {
      copy_to_device(api, memory.get(), bytes.data(), bytes.size(), "cannot upload");
    }
    return memory;
  }
  [[nodiscard]] std::vector<std::byte> download(CUdeviceptr from, std::size_t size) const {
    std::vector<std::byte> bytes(size);
    require(api, api.cuStreamSynchronize(stream.get()), "a kernel of the harness failed");
    if (size > 0) require(api, api.cuMemcpyDtoH(bytes.data(), from, size), "cannot download");
    return bytes;
  }
  template <class Record>
  [[nodiscard]] Record record(CUdeviceptr from) const {
    Record out;
    std::memcpy(&out, download(from, sizeof out).data(), sizeof out);
    return out;
  }

  /// `data` at `offset` bytes behind an aligned address.
  [[nodiscard]] Comparison compare(const Tensor& output,
                                   const Tensor& reference,
                                   const Tolerance& tolerance,
                                   std::size_t offset = 0) const {
    const MaskKey key{11, 22};
    std::vector<std::byte> shifted(offset);
    shifted.insert(shifted.end(), output.bytes.begin(), output.bytes.end());
    const DeviceMemory out = upload(shifted), masked = upload(reference.bytes),
                       result = allocate(api, sizeof(DeviceComparison));
    harness.mask(stream.get(), masked.get(), reference.bytes.size(), key);
    CompareRule rule{};
    rule.nonce = 7;
    rule.elements = static_cast<std::uint64_t>(output.elements());
    rule.key = key;
    rule.atol = tolerance.atol;
    rule.rtol = tolerance.rtol;
    rule.exact = tolerance.exact;
    rule.output = output.dtype;
    rule.reference = reference.dtype;
    harness.compare(stream.get(), out.get() + offset, masked.get(), rule, result.get());
    return finish(record<DeviceComparison>(result.get()), tolerance, output.shape, rule.nonce);
  }
};

const GpuBench& bench() {
  static const GpuBench shared;
  return shared;
}

}  // namespace

TEST_SUITE_BEGIN("gpu_harness");

TEST_CASE("the GPU fills every type by every rule with the host's bits") {
  const GpuBench& gpu = bench();
  auto shapes = harness_test::shapes();
  shapes.push_back({100, 1003});
  for (const auto& [rule, name] : harness_test::rules()) {
    for (const DTypeInfo& type : kDTypes) {
      for (const auto& shape : shapes) {
        for (const std::size_t offset : {std::size_t{0}, type.size_bytes}) {
          CAPTURE(name);
          CAPTURE(type.name);
          CAPTURE(shape.back());
          const Tensor expected = fill_tensor(rule, 77, type.dtype, shape, {}, nullptr, "here");
          const DeviceMemory out = allocate(gpu.api, expected.bytes.size() + 16);
          gpu.harness.fill(gpu.stream.get(), out.get() + offset,
                           static_cast<std::uint64_t>(expected.elements()),
                           *element_rule(rule, 77, type.dtype, shape, {}, "here"));
          CHECK(gpu.download(out.get() + offset, expected.bytes.size()) == expected.bytes);
        }
      }
    }
  }
}

TEST_CASE("input families on the GPU have the host's bits") {
  const GpuBench& gpu = bench();
  for (const DType dtype :
       {DType::f64, DType::f32, DType::f16, DType::bf16, DType::i32, DType::u8}) {
    const Tensor declared = fill_tensor(InitRule{}, 5, dtype, {170, 600}, {}, nullptr, "here");
    for (std::size_t i = 0; i < kInputFamilies.size(); ++i) {
      CAPTURE(kInputFamilies[i]);
      FamilyRule rule{};
      rule.family = static_cast<InputFamily>(i);
      rule.dtype = dtype;
      rule.seed = 9;
      rule.elements = 170 * 600;
      rule.row = 600;
      rule.lines = 170;
      rule.odd = kNoElement;
      rule.scale = 1.25;
      rule.nonnegative = i % 2 == 0 && dtype == DType::f32;
      for (rule.form = 0; rule.form < portable::structure_forms(rule); ++rule.form) {
        CAPTURE(rule.form);
        Tensor expected = declared;
        apply_family(expected, rule);
        const DeviceMemory data = gpu.upload(declared.bytes);
        gpu.harness.family(gpu.stream.get(), data.get(), rule);
        CHECK(gpu.download(data.get(), expected.bytes.size()) == expected.bytes);
      }
    }
  }
}

TEST_CASE("a comparison on the GPU gives the host's verdict for every pair of types") {
  for (const DTypeInfo& output : kDTypes) {
    for (const DTypeInfo& other : kDTypes) {
      for (const bool exact : {false, true}) {
        CAPTURE(output.name);
        CAPTURE(other.name);
        CAPTURE(exact);
        const Tensor reference = harness_test::special_values(other.dtype, 70001, 4);
        const Tensor out = harness_test::with_errors(reference, output.dtype, 5);
        const Tolerance tolerance{.atol = 1e-3, .rtol = 1e-2, .norm = 0.1, .exact = exact};
        const Comparison expected = compare(out, reference, tolerance);
        harness_test::check_equal(bench().compare(out, reference, tolerance), expected);
        harness_test::check_equal(bench().compare(out, reference, tolerance, output.size_bytes),
                                  expected);
      }
    }
  }
}

TEST_CASE("digests and guard zones see every byte") {
  const GpuBench& gpu = bench();
  const Tensor data = fill_tensor(InitRule{}, 3, DType::u8, {1 << 20}, {}, nullptr, "here");
  const DeviceMemory memory = gpu.upload(data.bytes), result = allocate(gpu.api, 64);
  const auto digest = [&](CUdeviceptr at, std::uint64_t size) {
    gpu.harness.digest(gpu.stream.get(), at, size, 7, 8, result.get());
    const auto record = gpu.record<DeviceDigest>(result.get());
    CHECK(record.nonce == 8);
    return std::pair(record.low, record.high);
  };
  const auto first = digest(memory.get(), 1 << 20);
  CHECK(digest(memory.get(), 1 << 20) == first);
  CHECK(digest(memory.get(), (1 << 20) - 1) != first);
  const unsigned char byte = 0x5a;
  copy_to_device(gpu.api, memory.get() + 77777, &byte, 1, "cannot upload");
  CHECK(digest(memory.get(), 1 << 20) != first);

  const CUdeviceptr zone = memory.get() + 3;
  gpu.harness.guard_fill(gpu.stream.get(), zone, 100000, 5);
  const auto check = [&] {
    gpu.harness.guard_check(gpu.stream.get(), zone, 100000, 5, 9, result.get());
    return gpu.record<DeviceGuard>(result.get());
  };
  CHECK(check().changed == 0);
  CHECK(digest(memory.get() + 100003, 1000) ==
        digest(gpu.upload(std::span(data.bytes).subspan(100003, 1000)).get(), 1000));
  require(gpu.api, gpu.api.cuMemsetD8(zone + 99990, 0x11, 10), "cannot write");
  CHECK(check().changed >= 8);
  CHECK(check().first_offset >= 99990);
}

TEST_CASE("poison reaches every element, the residue of shared memory is NaN everywhere") {
  const GpuBench& gpu = bench();
  Tensor out = make_tensor(DType::f16, {5001});
  const DeviceMemory memory = gpu.upload(out.bytes);
  gpu.harness.poison(gpu.stream.get(), memory.get(), 5001, DType::f16, 3);
  out.bytes = gpu.download(memory.get(), out.bytes.size());
  for (std::int64_t i = 0; i < 5001; ++i) CHECK(std::isnan(out.at(i)));

  CompileRequest request = harness_request(gpu.device.arch());
  request.source =
      "extern \"C\" __global__ void probe(unsigned* finite) {\n"
      "  extern __shared__ float x[];\n"
      "  for (unsigned i = threadIdx.x; i < 8192; i += 256) if (x[i] == x[i]) atomicAdd(finite, "
      "1);\n"
      "}\n";
  request.kernel = "probe";
  std::string why;
  const auto probe = load_kernel(gpu.api, compiled(gpu.device, request), "probe", why);
  REQUIRE_MESSAGE(probe, why);
  gpu.harness.poison_shared(gpu.stream.get(), 4);
  gpu.harness.poison_local(gpu.stream.get(), 4);
  const std::vector<std::byte> zero(4);
  const DeviceMemory finite = gpu.upload(zero);
  CUdeviceptr pointer = finite.get();
  void* arguments[] = {&pointer};
  require(gpu.api,
          gpu.api.cuLaunchKernel(probe->function, 64, 1, 1, 256, 1, 1, 32768, gpu.stream.get(),
                                 arguments, nullptr),
          "cannot launch");
  CHECK(gpu.record<std::uint32_t>(finite.get()) == 0);
}

TEST_CASE("the canary's answer is right; spin and noise end at their flag or their limit") {
  const GpuBench& gpu = bench();
  const DeviceMemory out = allocate(gpu.api, kCanaryWords * 8);
  gpu.harness.canary(gpu.stream.get(), out.get(), 17);
  const auto got = gpu.download(out.get(), kCanaryWords * 8);
  CHECK(std::memcmp(got.data(), canary_answer(17).data(), got.size()) == 0);

  const std::vector<std::byte> zero(16);
  const DeviceMemory flag = gpu.upload(zero), scratch = allocate(gpu.api, 1 << 20);
  const auto start = std::chrono::steady_clock::now();
  gpu.harness.spin(gpu.stream.get(), flag.get(), 1, 5'000'000);
  gpu.harness.noise(gpu.stream.get(), scratch.get(), 1 << 20, 64, flag.get(), 1, 5'000'000);
  CHECK(gpu.api.cuStreamQuery(gpu.stream.get()) == CUDA_ERROR_NOT_READY);
  require(gpu.api, gpu.api.cuStreamSynchronize(gpu.stream.get()), "a kernel of the harness failed");
  CHECK(std::chrono::steady_clock::now() - start >= std::chrono::milliseconds(9));
  // A flag that is set already ends both at once, long before their limit of an hour.
  gpu.harness.spin(gpu.stream.get(), flag.get(), 0, 3'600'000'000'000);
  gpu.harness.noise(gpu.stream.get(), scratch.get(), 1 << 20, 64, flag.get(), 0, 3'600'000'000'000);
  require(gpu.api, gpu.api.cuStreamSynchronize(gpu.stream.get()), "a kernel of the harness failed");
}

TEST_CASE(
    "what waits for the host goes on when it is let go, whatever the stream had to do before") {
  const GpuBench& gpu = bench();
  const std::string code = compiled(gpu.device, harness_request(gpu.device.arch()));
  Bench bench(gpu.device, code, {}, CudaOptions{});
  constexpr std::size_t kBytes = 1U << 30U;  // to fill it takes longer than to ask for it
  const DeviceMemory filled = allocate(gpu.api, kBytes);
  const Stopwatch watch;
  for (unsigned char i = 0; i < 20; ++i) {
    require(gpu.api, gpu.api.cuMemsetD8Async(filled.get(), i, kBytes, bench.stream()),
            "cannot fill");
    CHECK(bench.time_enqueued([] {}, "nothing") < 10e6);
  }
  CHECK(watch.seconds() < 1);  // held to the limit: 0.1 s each
}

TEST_SUITE_END();
