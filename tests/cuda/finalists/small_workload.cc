#include "runners/cuda/finalists/small_workload.h"

#include <doctest/doctest.h>

#include <filesystem>

#include "engine/base/error.h"
#include "engine/spec/spec_check.h"
#include "engine/spec/spec_load.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

KernelSpec spec_of(const std::string& name) {
  return load_specs(
             (std::filesystem::path(WARPATH_SOURCE_ROOT) / "specs" / (name + ".json")).string())
      .front();
}

const Workload& gpu_workload(const KernelSpec& spec) {
  for (const Workload& workload : spec.workloads) {
    if (workload.target != WorkloadTarget::host) return workload;
  }
  FAIL("no workload for a GPU");
  return spec.workloads.front();
}

std::int64_t scalar(const Workload& workload, const std::string& name) {
  return std::get<std::int64_t>(workload.scalars.at(name));
}

}  // namespace

TEST_SUITE_BEGIN("small_workload");

TEST_CASE("every spec of the collection has a small workload that its checks accept") {
  for (const std::string& file :
       spec_files((std::filesystem::path(WARPATH_SOURCE_ROOT) / "specs").string())) {
    CAPTURE(file);
    const KernelSpec spec = load_specs(file).front();
    const auto found = smaller_workloads(spec, gpu_workload(spec), {});
    REQUIRE_FALSE(found.empty());
    for (const Workload& workload : found) {
      std::int64_t elements = 0;
      for (const ArgSpec& arg : spec.io.args) {
        if (arg.type != ArgType::tensor) continue;
        std::int64_t own = 1;
        for (const std::int64_t extent : spec.shape_of(arg, workload)) own *= extent;
        elements += own;
      }
      CHECK(elements <= kSmallElements);
      CHECK(elements >= 256);
      KernelSpec only = spec;
      only.workloads = {workload};
      CHECK_NOTHROW(check_spec(only));
    }
  }
}

TEST_CASE("sizes that belong together shrink together") {
  const KernelSpec sparse = spec_of("spmv_csr");
  const auto found = smaller_workloads(sparse, gpu_workload(sparse), {});
  REQUIRE_FALSE(found.empty());
  CHECK(scalar(found.front(), "NNZ") == 48 * scalar(found.front(), "n"));
  const KernelSpec grouped = spec_of("grouped_gemm_bf16");
  const auto groups = smaller_workloads(grouped, gpu_workload(grouped), {});
  REQUIRE_FALSE(groups.empty());
  CHECK(scalar(groups.front(), "ROWS") == 512 * scalar(groups.front(), "G"));
}

TEST_CASE("a size that is in the code stays; where all are, there is no small workload") {
  const KernelSpec spec = spec_of("sgemm_tn_batched");
  const auto found = smaller_workloads(spec, gpu_workload(spec), {"K"});
  REQUIRE_FALSE(found.empty());
  for (const Workload& workload : found) CHECK_FALSE(workload.scalars.contains("K"));
  CHECK(smaller_workloads(spec, gpu_workload(spec), {"M", "N", "K", "BATCH"}).empty());
}

TEST_CASE("what is small already is taken as it is") {
  KernelSpec spec = spec_of("sgemm_tn_batched");
  Workload workload = gpu_workload(spec);
  for (const char* const size : {"M", "N", "K"}) workload.scalars[size] = std::int64_t{64};
  workload.scalars["BATCH"] = std::int64_t{2};
  const auto found = smaller_workloads(spec, workload, {});
  REQUIRE(found.size() == 1);
  CHECK(found.front().scalars == workload.scalars);
}

TEST_CASE("an integer that the baseline's PTX reads and the variant's does not is in its code") {
  const KernelSpec spec = spec_of("sgemm_tn_batched");  // M, N, K, then tensors
  const std::string both =
      "ld.param.u32 %r1, [k_param_0];\nld.param.u32 %r2, [k_param_1];\nld.param.u32 %r3, "
      "[k_param_2];\nld.param.u64 %rd1, [k_param_12];";
  CHECK(integers_in_code(spec, both, both).empty());
  CHECK(integers_in_code(spec, both,
                         "ld.param.u32 %r1, [k_param_0];\nld.param.u64 %rd1, [k_param_12];") ==
        std::set<std::string>{"K", "N"});
  CHECK(integers_in_code(spec, "", both).empty());
}

TEST_SUITE_END();
