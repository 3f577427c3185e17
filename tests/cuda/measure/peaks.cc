#include "runners/cuda/measure/peaks.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "tests/cuda/support.h"
#include "tests/support/temporary_folder.h"

using warpath::Error;
using warpath::JsonCursor;
using warpath::cuda::Peaks;
using warpath::cuda::peaks_file;
using warpath::cuda::read_peaks;
using warpath::cuda::write_peaks;

namespace {

Peaks sample() {
  Peaks peaks{.gpu = "Test GPU",
              .uuid = "00112233445566778899aabbccddeeff",
              .driver = 13000,
              .l2_size_bytes = 50'000'000,
              .copy_bytes_per_s = 4e12,
              .read_bytes_per_s = 4.2e12,
              .write_bytes_per_s = 3.9e12,
              .l2_bytes_per_s = 8e12,
              .operations = {},
              .launch_event_ns = 4000,
              .launch_graph_ns = 1500,
              .launch_host_ns = 9000,
              .event_resolution_ns = 32};
  peaks.operations = {{"float32", {60e12, "fma", true}},
                      {"bfloat16", {800e12, "wgmma", true}},
                      {"int8", {1600e12, "wgmma", true}},
                      {"sfu", {4e12, "ex2.approx", false}}};
  return peaks;
}

}  // namespace

TEST_SUITE_BEGIN("peaks");

TEST_CASE("cold traffic is bound by the fastest of copying, reading and writing") {
  const Peaks peaks = sample();
  CHECK(peaks.dram_bytes_per_s() == 4.2e12);
  CHECK(peaks.floor_ns(4.2e9, {}, false) == doctest::Approx(1e6));
}

TEST_CASE("hot traffic that fits in the level-2 cache is bound by that cache alone") {
  const Peaks peaks = sample();
  CHECK(peaks.floor_ns(40e6, {}, true) == doctest::Approx(5000));
  CHECK(peaks.bounds_ns(40e6, {}, true).at("dram") == 0);
  CHECK(peaks.floor_ns(1e9, {}, true) == doctest::Approx(0.95e9 / 4.2e12 * 1e9));
}

TEST_CASE("types that share a resource add up, and resources overlap") {
  const Peaks peaks = sample();
  const auto bounds =
      peaks.bounds_ns(0, {{"bfloat16", 8e12}, {"int8", 1.6e12}, {"float32", 6e11}}, false);
  CHECK(bounds.at("tensor") == doctest::Approx(1.1e7));
  CHECK(bounds.at("fp32") == doctest::Approx(1e7));
  CHECK(peaks.floor_ns(0, {{"bfloat16", 8e12}, {"int8", 1.6e12}, {"float32", 6e11}}, false) ==
        doctest::Approx(1.1e7));
}

TEST_CASE(
    "a rate that something else may beat bounds nothing, and an unmeasured type is left out") {
  const Peaks peaks = sample();
  CHECK(peaks.bounds_ns(0, {{"sfu", 4e12}}, false).at("sfu") == doctest::Approx(1e9));
  CHECK(peaks.floor_ns(0, {{"sfu", 4e12}}, false) == 0);
  CHECK(!peaks.bounds_ns(0, {{"float64", 1e12}}, false).contains("fp64"));
  CHECK(Peaks{}.floor_ns(1e9, {{"float32", 1e12}}, false) == 0);
}

TEST_CASE("peaks survive a file and come back only for their GPU and driver") {
  const warpath::TemporaryFolder folder;
  const Peaks peaks = sample();
  REQUIRE(write_peaks(folder.path(), peaks));
  CHECK(read_peaks(folder.path(), peaks.uuid, peaks.driver) == peaks);
  CHECK(!read_peaks(folder.path(), peaks.uuid, peaks.driver + 1));
  std::filesystem::copy_file(peaks_file(folder.path(), peaks.uuid, 13000),
                             peaks_file(folder.path(), peaks.uuid, 13010));
  CHECK(!read_peaks(folder.path(), peaks.uuid, 13010));
}

TEST_CASE("a damaged file, an older schema and impossible numbers read as nothing") {
  const warpath::TemporaryFolder folder;
  const Peaks peaks = sample();
  REQUIRE(write_peaks(folder.path(), peaks));
  const auto path = peaks_file(folder.path(), peaks.uuid, peaks.driver);
  const std::string good = cuda_test::read_file(path);
  for (const std::size_t kept :
       {std::size_t{0}, std::size_t{1}, good.size() / 2, good.size() - 3}) {
    CAPTURE(kept);
    warpath::test::put_text(path, good.substr(0, kept));
    CHECK(!read_peaks(folder.path(), peaks.uuid, peaks.driver));
  }
  const auto refuses = [&](const char* key, const nlohmann::json& value) {
    auto document = nlohmann::json::parse(good);
    document[key] = value;
    warpath::test::put_text(path, document.dump());
    CHECK_FALSE_MESSAGE(read_peaks(folder.path(), peaks.uuid, peaks.driver).has_value(), key);
  };
  refuses("schema", 0);
  refuses("copy_bytes_per_s", -1);
  refuses("copy_bytes_per_s", "fast");
  refuses("uuid", "ff");
  refuses("operations", nlohmann::json::array());
  refuses("operations", {{"float32", {{"per_s", 1}}}});
  refuses("extra", 1);
  warpath::test::put_text(path, good);
  CHECK(read_peaks(folder.path(), peaks.uuid, peaks.driver) == peaks);
}

TEST_CASE("a complaint about a peaks document names the place") {
  auto document = peaks_to_json(sample());
  document["operations"]["float32"]["per_s"] = -1;
  CHECK_THROWS_WITH_AS(warpath::cuda::peaks_from_json(JsonCursor(document, "p.json")),
                       doctest::Contains("p.json:/operations/float32/per_s"), Error);
}

TEST_CASE("a folder that cannot be made loses nothing but the cache") {
  const warpath::TemporaryFolder folder;
  warpath::test::put_text(folder / "file", "x");
  CHECK(!write_peaks(folder / "file" / "sub", sample()));
}
TEST_SUITE_END();

TEST_SUITE_BEGIN("nvrtc_peaks");

TEST_CASE("the measuring kernels compile for every generation, wgmma for its own") {
  for (const char* const arch : {"sm_75", "sm_80", "sm_90a", "sm_120a"}) {
    CAPTURE(arch);
    const auto result = compile(cuda_test::nvrtc(), {}, warpath::cuda::peaks_request(arch), {});
    CHECK_MESSAGE(result.status == warpath::Status::ok, result.log);
    CHECK(result.cubin.find("peak_copy") != std::string::npos);
    CHECK((result.cubin.find("peak_mma_bf16") != std::string::npos) ==
          (std::string_view(arch) != "sm_75"));
    CHECK((result.cubin.find("peak_wgmma_bf16") != std::string::npos) ==
          (std::string_view(arch) == "sm_90a"));
    CHECK(result.log.find("serialized") == std::string::npos);
  }
}
TEST_SUITE_END();
