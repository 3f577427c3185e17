#include "runners/cuda/measure/cache_plan.h"

#include <doctest/doctest.h>

using namespace warpath;
using warpath::cuda::cache_plan;
using warpath::cuda::CachePlan;

TEST_SUITE("cache_plan") {
  TEST_CASE("a workload that declares nothing is timed as the option says") {
    CHECK(cache_plan({}, "hot", Stage::screening) ==
          CachePlan{.hot = true, .cold = false, .cold_scored = false});
    CHECK(cache_plan({}, "cold", Stage::screening) ==
          CachePlan{.hot = false, .cold = true, .cold_scored = true});
    CHECK(cache_plan({}, "both", Stage::screening) ==
          CachePlan{.hot = true, .cold = true, .cold_scored = false});
  }

  TEST_CASE("what a workload declares goes before the option") {
    for (const char* option : {"hot", "cold", "both"}) {
      CAPTURE(option);
      CHECK(cache_plan(L2Timing::hot, option, Stage::confirmation) ==
            CachePlan{.hot = true, .cold = false, .cold_scored = false});
      CHECK(cache_plan(L2Timing::cold, option, Stage::confirmation) ==
            CachePlan{.hot = false, .cold = true, .cold_scored = true});
      CHECK(cache_plan(L2Timing::both, option, Stage::confirmation) ==
            CachePlan{.hot = true, .cold = true, .cold_scored = false});
    }
  }

  TEST_CASE("a finalist is timed in both states and scored as the search was") {
    for (const L2Timing declared : {L2Timing::hot, L2Timing::cold, L2Timing::both}) {
      const CachePlan plan = cache_plan(declared, "hot", Stage::final);
      CHECK(plan.hot);
      CHECK(plan.cold);
      CHECK(plan.cold_scored == cache_plan(declared, "hot", Stage::screening).cold_scored);
    }
  }
}
