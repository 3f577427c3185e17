#include "runners/cuda/driver/nvml.h"

#include <doctest/doctest.h>

#include <unistd.h>

#include <cstring>

using warpath::cuda::DeviceState;
using warpath::cuda::Nvml;
using warpath::cuda::NvmlApi;

namespace {

constexpr int kNotSupported = 3;
const NvmlApi::Device kDevice = reinterpret_cast<NvmlApi::Device>(16);

/// A management library with one GPU, "0000:0f:00.0", which does not tell its temperature.
NvmlApi fake_library() {
  NvmlApi api;
  api.init = [] { return 0; };
  api.device_by_pci_bus_id = [](const char* id, NvmlApi::Device* device) {
    *device = kDevice;
    return std::strcmp(id, "0000:0f:00.0") == 0 ? 0 : 6;
  };
  api.clock = [](NvmlApi::Device, int which, unsigned* mhz) {
    *mhz = which == 1 ? 1980 : 3201;
    return 0;
  };
  api.power = [](NvmlApi::Device, unsigned* milliwatts) {
    *milliwatts = 123'400;
    return 0;
  };
  api.temperature = [](NvmlApi::Device, int, unsigned*) { return kNotSupported; };
  api.throttle_bits = [](NvmlApi::Device, unsigned long long* bits) {
    *bits = 4;
    return 0;
  };
  api.error_string = [](int) { return "Not Found"; };
  return api;
}

}  // namespace

TEST_SUITE_BEGIN("nvml");

TEST_CASE("what the library tells is read, the rest is absent") {
  std::string why;
  const auto nvml = Nvml::with(fake_library(), "0000:0f:00.0", why);
  REQUIRE(nvml);
  const DeviceState state = nvml->read();
  CHECK(state.sm_clock_mhz == 1980);
  CHECK(state.memory_clock_mhz == 3201);
  CHECK(state.power_watts.value() == doctest::Approx(123.4));
  CHECK(!state.temperature_celsius);
  CHECK(state.throttle_bits == 4U);
  CHECK(throttled(state));
}

TEST_CASE("an unknown GPU and an absent or foreign library give one line") {
  std::string why;
  CHECK(!Nvml::with(fake_library(), "0000:01:00.0", why));
  CHECK(why == "the management library does not know GPU 0000:01:00.0: Not Found (6)");
  CHECK(!Nvml::open("0000:0f:00.0", why, "libno_such_nvml.so.1"));
  CHECK(why.find("libno_such_nvml.so.1") != std::string::npos);
  CHECK(!Nvml::open("0000:0f:00.0", why, "libm.so.6"));
  CHECK(why.find("libm.so.6") != std::string::npos);
}

TEST_CASE("idling, a chosen clock and an unknown reason are no throttling") {
  DeviceState state;
  CHECK(!throttled(state));
  for (const std::uint64_t other : {std::uint64_t{0b11}, std::uint64_t{1} << 40U}) {
    state.throttle_bits = other;
    CHECK(!throttled(state));
  }
  for (const unsigned bit : {2U, 3U, 4U, 5U, 6U, 7U}) {
    state.throttle_bits = std::uint64_t{1} << bit;
    CHECK(throttled(state));
  }
}

TEST_CASE(
    "processes on a device that the engine did not start are foreign; without its own among them "
    "nothing can be told") {
  std::string why;
  NvmlApi library = fake_library();
  CHECK_FALSE(Nvml::with(library, "0000:0f:00.0", why)->compute_processes());  // an old library
  library.compute_processes = [](NvmlApi::Device, unsigned* count, NvmlApi::Process* out) {
    const unsigned pids[] = {70, 71, 72, 90, 99};
    for (unsigned i = 0; i < 5; ++i) out[i].pid = pids[i];
    *count = 5;
    return 0;
  };
  const auto all = Nvml::with(library, "0000:0f:00.0", why)->compute_processes();
  REQUIRE(all);
  // 50 the engine; 70 this worker, 71 its spare, 72 a sanitizer's worker behind 60; 90 somebody's;
  // 99 of no known parent.
  const auto parent_of = [](long pid) -> long {
    switch (pid) {
      case 70:
      case 71:
      case 60:
        return 50;
      case 72:
        return 60;
      case 50:
      case 90:
        return 2;
      case 2:
        return 1;
      default:
        return 0;
    }
  };
  CHECK(warpath::cuda::foreign_to(*all, 70, 50, parent_of) == std::vector<long>{90, 99});
  CHECK_FALSE(warpath::cuda::foreign_to(*all, 12, 50, parent_of));
  CHECK(warpath::cuda::parent_process(::getpid()) == ::getppid());
  CHECK(warpath::cuda::parent_process(4'000'000'000) == 0);
}
TEST_SUITE_END();
