#include "runners/cuda/finalists/large_workload.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "engine/spec/spec_load.h"
#include "runners/cuda/finalists/workload_sizes.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

constexpr std::int64_t k31 = std::int64_t{1} << 31U, k32 = std::int64_t{1} << 32U;
constexpr LargeLimits kAmple{.memory_bytes = std::int64_t{1} << 40U, .launch_ns = 0};

KernelSpec spec_of(const std::string& name) {
  return load_specs(
             (std::filesystem::path(WARPATH_SOURCE_ROOT) / "specs" / (name + ".json")).string())
      .front();
}

/// One workload, for a GPU.
const Workload& gpu_workload(const KernelSpec& spec) {
  for (const Workload& workload : spec.workloads) {
    if (workload.target != WorkloadTarget::host) return workload;
  }
  FAIL("no workload for a GPU");
  return spec.workloads.front();
}

LargePlan plan(const KernelSpec& spec,
               const LargeLimits& limits = kAmple,
               const std::set<std::string>& fixed = {}) {
  return larger_workloads(spec, gpu_workload(spec), fixed, limits);
}

std::int64_t scalar(const LargeWorkload& at, const std::string& name) {
  const auto own = at.workload.scalars.find(name);
  REQUIRE(own != at.workload.scalars.end());
  return std::get<std::int64_t>(own->second);
}

constexpr const char* kRows = R"-({"x": "ceil_div(N * C, 256)"})-";

/// A copy of x[N, C] in floats, N of type `dtype`, with `more` keys.
KernelSpec copy_spec(std::int64_t rows,
                     const std::string& dtype = "int64",
                     const std::string& grid = kRows,
                     const std::string& more = "") {
  return parse_specs(
             R"({"name": "s", "kernel": {"source_code": "extern \"C\" __global__ void k(float* y, const float* x, long long N, int C) { y[0] = x[0]; }",
      "metadata": {"kernel_name": "k"}, "io": {"args": [
        {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": ["N", "C"], "dtype": "float32"}},
        {"name": "x", "type": "tensor", "tensor_spec": {"shape": ["N", "C"], "dtype": "float32", "init": {"kind": "randn"}}},
        {"name": "N", "type": "int", "dtype": ")" +
                 dtype + R"(", "value": )" + std::to_string(rows) + R"(},
        {"name": "C", "type": "int", "value": 1024}],
      "launch": {"grid": )" +
                 grid + R"(, "block": {"x": 256}}}})" + more + "}",
             "spec.json", ".")
      .front();
}

}  // namespace

TEST_SUITE_BEGIN("large_workload");

TEST_CASE(
    "more rows take tensors past 2^32 bytes, and past 2^31 elements where a size of 64 bits says "
    "that they may go there") {
  const KernelSpec spec = copy_spec(1 << 16);
  const LargePlan found = plan(spec);
  REQUIRE(found.beyond.size() == 2);
  CHECK(found.reason.empty());
  CHECK(found.beyond[0].bytes > k32);
  CHECK(found.beyond[0].elements <= k31);
  CHECK(found.beyond[1].elements > k31);
  // The least multiples that do, and beside them a size that 32 bits reach, no power of two.
  CHECK(scalar(found.beyond[0], "N") == 17 << 16);
  CHECK(scalar(found.beyond[1], "N") == 33 << 16);
  CHECK(scalar(found.within, "N") == 7 << 16);
  CHECK(found.within.bytes <= k31);
  for (const LargeWorkload& at : found.beyond) CHECK_FALSE(at.workload.scalars.contains("C"));
}

TEST_CASE("past 2^31 elements a size of 32 bits goes beside a reference kernel only") {
  // its reference is an operation of the host
  const LargePlan softmax = plan(spec_of("softmax_scaled"));
  REQUIRE(softmax.beyond.size() == 1);
  CHECK(softmax.beyond[0].bytes > k32);
  CHECK(softmax.reason.find("N has 32 bits") != std::string::npos);
  const LargePlan stencil = plan(spec_of("stencil3d_r4"));
  REQUIRE(stencil.beyond.size() == 2);
  CHECK(stencil.beyond[1].elements > k31);
  CHECK(scalar(stencil.beyond[1], "nz") % 512 == 0);  // nx and ny are inner extents
  CHECK(stencil.reason.empty());
}

TEST_CASE("every workload of a plan is one that the spec allows") {
  for (const std::string& file :
       spec_files((std::filesystem::path(WARPATH_SOURCE_ROOT) / "specs").string())) {
    CAPTURE(file);
    const KernelSpec spec = load_specs(file).front();
    const LargePlan found = plan(spec);
    CHECK((!found.beyond.empty() || !found.reason.empty()));
    std::int64_t last = 0;
    for (const LargeWorkload& at : found.beyond) {
      CHECK(is_valid_alone(spec, at.workload));
      KernelSpec sent = spec;
      sent.workloads = {at.workload};
      sent.reference = std::monostate();
      sent.tolerance.try_emplace("");
      CHECK(spec_from_json(nlohmann::json::parse(to_json(sent).dump()), "sent")
                .workloads.front()
                .scalars == at.workload.scalars);
      CHECK(at.bytes > k31);
      CHECK(at.bytes > last);
      last = at.bytes;
    }
    if (!found.beyond.empty()) CHECK(is_valid_alone(spec, found.within.workload));
  }
}

TEST_CASE(
    "sizes that are in the code stay, and where nothing follows but they there is no larger "
    "workload") {
  const LargePlan found = plan(copy_spec(1 << 16), kAmple, {"N"});
  CHECK(found.beyond.empty());
  CHECK(found.reason == "its sizes are in its code");
  // M is the outermost extent of A and C; K and N are inner ones somewhere.
  const KernelSpec gemm = spec_of("gemm_bf16_nt");
  const LargePlan rows = plan(gemm, kAmple, {"N", "K"});
  REQUIRE_FALSE(rows.beyond.empty());
  CHECK(scalar(rows.beyond[0], "M") > 4096);
  CHECK(plan(gemm, kAmple, {"M"}).reason == "its sizes are in its code");
}

TEST_CASE("a size that only macros have may grow: the code is compiled for it") {
  const LargePlan found = plan(spec_of("sgemm_tn_batched"));
  REQUIRE_FALSE(found.beyond.empty());
  CHECK(scalar(found.beyond[0], "BATCH") == 65 * 64);
}

TEST_CASE("memory and time bound the plan, which says so") {
  const KernelSpec spec = copy_spec(1 << 16);
  const std::int64_t once = std::int64_t{8} << 26U;  // bytes of the declared tensors
  const LargePlan bytes = plan(spec, {.memory_bytes = 4 * 17 * once, .launch_ns = 0});
  REQUIRE(bytes.beyond.size() == 1);
  CHECK(scalar(bytes.beyond[0], "N") == 17 << 16);
  CHECK(bytes.reason.starts_with("memory does not suffice at N = "));
  const LargePlan fewer = plan(spec, {.memory_bytes = 4 * 17 * once - 4, .launch_ns = 0});
  REQUIRE(fewer.beyond.size() == 1);
  CHECK(scalar(fewer.beyond[0], "N") == 9 << 16);
  CHECK(fewer.beyond[0].bytes > k31);
  const LargePlan none = plan(spec, {.memory_bytes = 4 * 8 * once, .launch_ns = 0});
  CHECK(none.beyond.empty());
  CHECK(none.reason.starts_with("memory does not suffice at N = "));

  const LargePlan slow = plan(spec, {.memory_bytes = kAmple.memory_bytes, .launch_ns = 2e9 / 17});
  REQUIRE(slow.beyond.size() == 1);
  CHECK(scalar(slow.beyond[0], "N") == 17 << 16);
  CHECK(slow.reason.find("would take more than 2 s") != std::string::npos);
  CHECK(plan(spec, {.memory_bytes = kAmple.memory_bytes, .launch_ns = 0.3e9}).beyond.empty());
}

TEST_CASE("what the spec, the launch or 32 bits do not allow is not planned") {
  const LargePlan constrained =
      plan(copy_spec(1 << 16, "int64", kRows, R"(, "constraints": ["N <= 1000000"])"));
  REQUIRE(constrained.beyond.size() == 1);
  CHECK(constrained.beyond[0].bytes > k31);
  CHECK(constrained.beyond[0].bytes <= k32);
  CHECK(constrained.reason.find("the spec does not allow N = ") == 0);

  const LargePlan launched = plan(copy_spec(1 << 12, "int64", R"({"x": 4, "y": "N"})"));
  CHECK(launched.beyond.empty());
  CHECK(launched.reason.find("the spec does not allow N = ") == 0);

  const KernelSpec narrow =
      parse_specs(
          R"-({"name": "s", "kernel": {"source_code": "extern \"C\" __global__ void k(unsigned char* y, int n) { y[0] = 1; }",
      "metadata": {"kernel_name": "k"}, "io": {"args": [
        {"name": "y", "type": "tensor", "role": "output", "tensor_spec": {"shape": ["n"], "dtype": "uint8"}},
        {"name": "n", "type": "int", "value": 1048576}], "launch": {"grid": {"x": "ceil_div(n, 256)"}, "block": {"x": 256}}}}})-",
          "spec.json", ".")
          .front();
  CHECK(plan(narrow).beyond.empty());
  CHECK(plan(narrow).reason.find("more than 32 bits") != std::string::npos);
}

TEST_CASE("a declared workload that is as large speaks for itself") {
  const LargePlan past = plan(copy_spec(40 << 16));  // 2.7e9 elements
  CHECK(past.beyond.empty());
  CHECK(past.reason.empty());
  // Past 2^31 bytes already: what it is compared with is half of it.
  const LargePlan half = plan(copy_spec(10 << 16));
  REQUIRE(half.beyond.size() == 2);
  CHECK(half.beyond[0].bytes > k32);
  CHECK(scalar(half.within, "N") == 5 << 16);
}

TEST_SUITE_END();
