#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

/// Loops: 0 over tiles, 1 within it over a tile in shared memory, 2 over an array of the thread's
/// own, 3 told how many copies to make, 4 by a pointer.
KernelSpec tiles() {
  return test::kernel_under_test(
      "extern \"C\" __global__ void tiles(float* y, const float* x, int n) {\n"
      "  __shared__ float tile[64][1];\n"
      "  float sums[4] = {0.0f, 0.0f, 0.0f, 0.0f};\n"
      "  for (int t = 0; t < n; t += 64) {\n"
      "    __syncthreads();\n"
      "    tile[threadIdx.x][0] = x[t + threadIdx.x];\n"
      "    __syncthreads();\n"
      "#pragma unroll\n"
      "    for (int j = 0; j < 64; ++j) sums[0] += tile[j][0];\n"
      "  }\n"
      "  float sum = 0.0f;\n"
      "  #pragma unroll\n"
      "  for (int s = 0; s < 4; ++s) sum += sums[s];\n"
      "  #pragma unroll 2\n"
      "  for (int t = 0; t < n; ++t) sum += x[t];\n"
      "  for (const float* p = x; p != x + n; ++p) sum += *p;\n"
      "  y[threadIdx.x] = sum;\n"
      "}\n",
      "tiles",
      {{"y", "output", "float32", "64"},
       {"x", "input", "float32", "n"},
       {"n", "scalar", "int32", "", 256}},
      "1", "64");
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t out = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++out;
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("unroll_limit");

TEST_CASE("loops around others and those told to unroll are limited, others only with all") {
  MovePath path(tiles());
  std::vector<std::string> expected;
  for (const std::string site : {"loops", "loop:0", "loop:1"}) {
    for (const char* const copies : {"1", "4", "2"})
      expected.push_back("unroll_limit@" + site + "(copies=" + copies + ")");
  }
  CHECK(path.listed("unroll_limit") == expected);
  CHECK(path.tried("unroll_limit@loop:2(copies=1)") ==
        "it goes over an array that may be in registers");
  CHECK(path.tried("unroll_limit@loop:4(copies=1)") == "it is no counting for loop");
  CHECK(path.tried("unroll_limit@loop:5(copies=1)") == "there is no loop at loop:5");
  const std::string before = path.source();
  path.step("unroll_limit@loop:0(copies=1)");
  CHECK(path.has("\n#pragma unroll 1\n  for (int t = 0; t < n; t += 64)"));
  CHECK(path.tried("unroll_limit@loop:0(copies=1)") == "no loop makes more copies");
  path.step("unroll_limit@loop:0(copies=0)");
  CHECK(path.source() == before);
}

TEST_CASE("a limit of all loops leaves fewer copies, and loops over registers, as they are") {
  MovePath path(tiles());
  path.step("unroll_limit@loops(copies=4)");
  CHECK(count(path.source(), "#pragma unroll 4\n") == 2);
  CHECK(count(path.source(), "#pragma unroll 2\n") == 1);
  CHECK(count(path.source(), "#pragma unroll\n") == 1);
  path.step("unroll_limit@loops(copies=1)");
  CHECK(count(path.source(), "#pragma unroll 1\n") == 3);
}

TEST_SUITE_END();
