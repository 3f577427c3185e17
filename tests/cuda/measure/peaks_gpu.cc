#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "engine/base/temporary_folder.h"
#include "runners/cuda/driver/nvml.h"
#include "runners/cuda/measure/peaks.h"
#include "runners/cuda/measure/peaks_measure.h"
#include "tests/cuda/gpu_support.h"
#include "tests/cuda/support.h"

using namespace warpath::cuda;

TEST_SUITE_BEGIN("gpu_peaks");

TEST_CASE("peaks are plausible, repeat, and are measured once") {
  const Device& device = cuda_test::gpu();
  const auto compiled = compile(cuda_test::nvrtc(), {}, peaks_request(device.arch()), {});
  REQUIRE_MESSAGE(compiled.status == warpath::Status::ok, compiled.log);
  const warpath::TemporaryFolder folder;
  int compilations = 0;
  const auto cubin = [&] {
    ++compilations;
    return compiled.cubin;
  };
  const Peaks peaks = find_peaks(device, folder.path(), cubin);
  MESSAGE(peaks_to_json(peaks).dump(1));
  CHECK(find_peaks(device, folder.path(), cubin) == peaks);
  CHECK(compilations == 1);

  CHECK(peaks.copy_bytes_per_s > 1e11);
  CHECK(peaks.l2_bytes_per_s > peaks.copy_bytes_per_s);
  CHECK(peaks.operations.at("bfloat16").per_s > peaks.operations.at("float32").per_s);
  CHECK(peaks.operations.at("float32").per_s > peaks.operations.at("sfu").per_s);
  CHECK(peaks.launch_graph_ns < peaks.launch_event_ns);
  CHECK(peaks.launch_event_ns < peaks.launch_host_ns);
  CHECK(peaks.event_resolution_ns > 0);
  const Peaks again = measure_peaks(device, compiled.cubin);
  CHECK(again.copy_bytes_per_s == doctest::Approx(peaks.copy_bytes_per_s).epsilon(0.05));
  for (const auto& [type, rate] : peaks.operations) {
    CAPTURE(type);
    CHECK(again.operations.at(type).per_s == doctest::Approx(rate.per_s).epsilon(0.1));
  }
}

TEST_CASE("the management library tells the clocks where there is one") {
  const Device& device = cuda_test::gpu();
  char id[64] = {};
  require(device.api(), device.api().cuDeviceGetPCIBusId(id, sizeof id, device.handle()),
          "PCI bus");
  std::string why;
  const auto nvml = Nvml::open(id, why);
  if (!nvml) {
    MESSAGE("skipped: ", why);
    return;
  }
  CHECK(nvml->read().sm_clock_mhz.value_or(0) > 100);
}
TEST_SUITE_END();
