#include <doctest/doctest.h>

#include <string>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// Sums and counts that threads add to one place.
TEST_SUITE_BEGIN("atomics");

namespace {

KernelSpec histogram() {
  return load_specs(std::string(WARPATH_SOURCE_ROOT) + "/specs/hist256.json").front();
}

/// out[0] += the sum of 2049 elements, an atomic an element.
KernelSpec total() {
  return test::kernel_under_test(
      "extern \"C\" __global__ void total(float* out, const float* x, int n) {\n  int i = "
      "blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) atomicAdd(out, x[i]);\n}\n",
      "total",
      {{"out", "inout", "float32", "1", 0, {{"kind", "zeros"}}},
       {"x", "input", "float32", "n", 0, {{"kind", "uniform"}, {"seed", 2}}},
       {"n", "scalar", "", "", 2049}},
      "ceil_div(n, 128)", "128", 1e-4);
}

}  // namespace

TEST_CASE(
    "a histogram is counted in shared copies by a grid that fills the device, sixteen bytes at a "
    "time") {
  MovePath path(histogram());
  path.step("persistent_grid@thread(blocks_per_sm=2)");
  CHECK(path.variant().launch.grid[0].text() == "min(ceil_div(n, BLOCK), 6)");
  path.runs();
  path.step("avoid_atomics_reduce@argument:h(copies=32)");
  CHECK(path.has("__shared__ unsigned int h_block[BINS * COPIES];"));
  path.runs();
  path.step("vectorize_global_loads@loop:1(width=16)");
  CHECK(path.has("alignas(16) unsigned char x_pack[PACK];"));
  path.runs();
  path.step("cache_policy_cg@argument:x(policy=1)").runs();
  path.tunable("BLOCK", 1024).runs();
  // The rest of the elements is dealt to the lanes from an offset on: no packs start there.
  CHECK(path.tried("vectorize_global_loads@loop:3(width=16)") ==
        "the lanes' first indices have an offset");
  // The same in one step: without its loop a block's counts are worth as little as the loop without
  // them.
  MovePath both(histogram());
  both.step("avoid_atomics_reduce@argument:h(blocks_per_sm=2,copies=32)");
  CHECK(both.variant().launch.grid[0].text() == "min(ceil_div(n, BLOCK), 6)");
  CHECK(both.has("i += (long long)gridDim.x * blockDim.x"));
  both.runs();
  CHECK(both.tried("persistent_grid@thread(blocks_per_sm=2)") != "");
  MovePath one(histogram());
  one.step("avoid_atomics_reduce@argument:h(copies=1)").runs();
  CHECK(one.tried("avoid_atomics_reduce@argument:h(copies=1)") ==
        "a block adds to an element of h only once");
}

TEST_CASE("a sum of all elements takes one atomic a block") {
  MovePath path(total());
  path.step("avoid_atomics_reduce@argument:out(copies=0)").runs();
  CHECK(path.listed("avoid_atomics_reduce").empty());
  MovePath persistent(total());
  persistent.step("persistent_grid@thread(blocks_per_sm=1)")
      .step("avoid_atomics_reduce@argument:out(copies=0)")
      .runs();
}

TEST_SUITE_END();
