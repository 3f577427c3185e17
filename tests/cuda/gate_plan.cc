#include "runners/cuda/gate_plan.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/error.h"
#if __has_include(<cuda.h>)
#include "runners/cuda/evaluation.h"
#endif

using namespace warpath;
using warpath::cuda::gate_identifier;
using warpath::cuda::GatePlan;

TEST_SUITE("gate_plan") {
  const std::vector<std::string> kNames{"s1_ptx", "d2_reference", "d7_guard_zones", "d7b_fences"};

  TEST_CASE("a gate runs at its stage and at every later one") {
    CudaOptions options;
    options.screening = "s1,d2";
    options.confirmation = "d7b";
    options.final = "";
    const GatePlan plan = GatePlan::from(options, kNames);
    CHECK(plan.runs("d2", Stage::screening));
    CHECK(plan.runs("d2", Stage::final));
    CHECK_FALSE(plan.runs("d7b", Stage::screening));
    CHECK(plan.runs("d7b", Stage::confirmation));
    CHECK_FALSE(plan.runs("d7", Stage::final));
    CHECK(plan.name_of.at("d7b") == "d7b_fences");
  }

  TEST_CASE("an unknown gate, and one that is listed twice, is refused with its option") {
    CudaOptions options;
    options.screening = "s1,d99";
    CHECK_THROWS_WITH_AS(GatePlan::from(options, kNames), doctest::Contains("cuda.screening: got d99"), Error);
    options.screening = "s1";
    options.confirmation = "d2,s1";
    CHECK_THROWS_WITH_AS(GatePlan::from(options, kNames), doctest::Contains("cuda.confirmation: got s1"), Error);
  }

#if __has_include(<cuda.h>)
  TEST_CASE("by default every gate of the build has a stage") {
    const auto names = warpath::cuda::all_gate_names();
    const GatePlan plan = GatePlan::from({}, names);
    for (const std::string& name : names) {
      CAPTURE(name);
      CHECK(plan.runs(gate_identifier(name), Stage::final));
    }
  }
#endif
}
