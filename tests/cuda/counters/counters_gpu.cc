#include <doctest/doctest.h>

#include "runners/cuda/counters/counters.h"
#include "tests/cuda/gpu_support.h"
#include "tests/cuda/support.h"

using namespace warpath::cuda;

namespace {

constexpr unsigned kElements = 1U << 24U;  // float4: 256 MiB, more than any level-2 cache holds
constexpr unsigned kThreads = 256;

/// Copies, and adds one to a counter by one block: runs of the same launch see each other unless
/// the counter is put back.
constexpr const char* kCopy = R"(
extern "C" __global__ void k(const float4* in, float4* out, unsigned* launches, unsigned n) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = in[i];
  if (i == 0) *launches += 1;
})";

/// A kernel on the device with its arguments.
class Copy {
 public:
  Copy() : api_(cuda_test::gpu().api()) {
    const auto compiled = cuda_test::compile(kCopy, "k", {}, cuda_test::gpu().arch());
    REQUIRE_MESSAGE(compiled.status == warpath::Status::ok, compiled.log);
    std::string why;
    kernel_ = load_kernel(api_, compiled.cubin, "k", why);
    REQUIRE_MESSAGE(kernel_, why);
    in_ = allocate(api_, kBytes);
    out_ = allocate(api_, kBytes);
    launches_ = allocate(api_, 4);
    require(api_, api_.cuMemsetD32(in_.get(), 1, kBytes / 4), "fill");
    restore();
  }
  void restore() {
    ++restored;
    require(api_, api_.cuMemsetD32(launches_.get(), 0, 1), "restore");
  }
  void launch() {
    ++launched;
    CUdeviceptr in = in_.get(), out = out_.get(), launches = launches_.get();
    unsigned n = kElements;
    void* arguments[] = {&in, &out, &launches, &n};
    require(api_,
            api_.cuLaunchKernel(kernel_->function, kElements / kThreads, 1, 1, kThreads, 1, 1, 0,
                                nullptr, arguments, nullptr),
            "launch");
  }
  [[nodiscard]] unsigned launches() const {
    unsigned count = 0;
    require(api_, api_.cuMemcpyDtoH(&count, launches_.get(), 4), "read");
    return count;
  }
  static constexpr std::size_t kBytes = std::size_t{kElements} * 16;
  int restored = 0;
  int launched = 0;

 private:
  const DriverApi& api_;
  std::optional<LoadedKernel> kernel_;
  DeviceMemory in_, out_, launches_;
};

}  // namespace

TEST_SUITE_BEGIN("gpu_counters");

TEST_CASE("a copy moves the bytes that it must and is restored before every pass") {
  std::string why;
  auto counters = Counters::open(cuda_test::gpu(), cuda_test::nvrtc().path(), why);
  if (!counters) {
    MESSAGE("skipped: ", why);
    return;
  }
  CHECK(counters->resolved().size() >= 20);
  Copy copy;
  for (int variant = 0; variant < 2; ++variant) {
    copy.restored = copy.launched = 0;
    const auto values = counters->collect([&] { copy.restore(); }, [&] { copy.launch(); }, why);
    REQUIRE_MESSAGE(values, why);
    CHECK(copy.launched == static_cast<int>(counters->passes()));
    CHECK(copy.restored == copy.launched);
    CHECK(copy.launches() == 1);
    CHECK(values->at("dram_read_bytes") == doctest::Approx(Copy::kBytes).epsilon(0.05));
    CHECK(values->at("dram_written_bytes") == doctest::Approx(Copy::kBytes).epsilon(0.25));
    CHECK(values->at("global_load_requests") == doctest::Approx(kElements / 32).epsilon(0.01));
    CHECK(values->at("load_sectors_per_request") == doctest::Approx(16).epsilon(0.01));
    CHECK(values->at("threads_per_instruction") > 31);
    CHECK(values->at("dram_throughput") > 0.5);
    CHECK(values->at("stall_long_scoreboard") > 0.3);
    for (const auto& [name, value] : *values) {
      CAPTURE(name);
      CHECK(value >= 0);
    }
  }
}

TEST_CASE("an exception of the launch leaves profiling off and the next collection good") {
  std::string why;
  auto counters = Counters::open(cuda_test::gpu(), cuda_test::nvrtc().path(), why);
  if (!counters) {
    MESSAGE("skipped: ", why);
    return;
  }
  Copy copy;
  CHECK_THROWS_AS(
      static_cast<void>(counters->collect([] {}, [] { throw std::runtime_error("no"); }, why)),
      std::runtime_error);
  const auto values = counters->collect([&] { copy.restore(); }, [&] { copy.launch(); }, why);
  CHECK_MESSAGE(values, why);
}

TEST_CASE("a metric list of one takes few passes and gives one value") {
  std::string why;
  auto counters =
      Counters::open(cuda_test::gpu(), cuda_test::nvrtc().path(), why, metrics().subspan(1, 1));
  if (!counters) {
    MESSAGE("skipped: ", why);
    return;
  }
  Copy copy;
  const auto values = counters->collect([&] { copy.restore(); }, [&] { copy.launch(); }, why);
  REQUIRE_MESSAGE(values, why);
  CHECK(values->size() == 1);
  CHECK(counters->passes() <= 2);
}
TEST_SUITE_END();
