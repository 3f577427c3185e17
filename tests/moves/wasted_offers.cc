#include <doctest/doctest.h>

#include <set>
#include <string>

#include "engine/spec/expression.h"
#include "tests/support/example_kernel.h"

using namespace warpath;

// What cannot change a kernel any more is not offered for it.
TEST_SUITE_BEGIN("wasted_offers");

namespace {

using Kernel = ExampleKernel;

}  // namespace

TEST_CASE("what a move has done it does not offer again") {
  Kernel small(
      "output: float32 y[n]\ninput: float32 x[n + 16]\ninput: float32 w[9]\nscalar: int32 n = "
      "65536\ngrid: ceil_div(n, 256)\nblock: 256\n",
      "extern \"C\" __global__ void k(float* __restrict__ y, const float* __restrict__ x, const "
      "float* __restrict__ w, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n  float sum = "
      "0.f;\n  for (int t = 0; t < 9; t++) sum += w[t] * x[i + t];\n  y[i] = sum;\n}\n");
  for (const char* const form : {"constant_operand(form=0)", "constant_operand(form=1)"}) {
    Kernel once = small;
    REQUIRE(once.step(form) == "");
    CHECK(once.offered("constant_operand").empty());
  }
  const std::string rows =
      "output: float32 y[n, c]\ninput: float32 x[n, c]\nscalar: int32 n = 8192\nscalar: int32 c = "
      "1024\ngrid: ceil_div(n, 256)\nblock: 256\n";
  const auto source = [](const std::string& body) {
    return "extern \"C\" __global__ void k(float* __restrict__ y, const float* __restrict__ x, int "
           "n, int c) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) "
           "return;\n" +
           body + "}\n";
  };
  Kernel sweeps(
      rows,
      source("  float top = -1e30f, sum = 0.f;\n  for (int j = 0; j < c; ++j) top = fmaxf(top, x[i "
             "* c + j]);\n  for (int j = 0; j < c; ++j) sum += expf(x[i * c + j] - top);\n"
             "  for (int j = 0; j < c; ++j) y[i * c + j] = expf(x[i * c + j] - top) / sum;\n"));
  REQUIRE(sweeps.step("softmax_math_fusion(form=5)") == "");
  CHECK(sweeps.step("softmax_math_fusion@loop:0(form=5,vector=1)") ==
        "a sweep of the row runs backwards already");
  Kernel apart(rows, source("  float a[8], b[8];\n  for (int j = 0; j < 8; ++j) a[j] = j;\n  for "
                            "(int j = 0; j < 8; ++j) b[j] = a[j] * a[j];\n  y[i] = b[i % 8];\n"));
  CHECK(apart.step("softmax_math_fusion@loop:0(form=5,vector=1)") ==
        "no two sweeps read the same memory");
  Kernel ahead(rows, source("  float sum = 0.f;\n  for (int j = 0; j < c; ++j) sum += x[i * c + "
                            "j];\n  y[i] = sum;\n"));
  REQUIRE(ahead.step("unroll_ilp@loop:0(factor=4,tail=0)") == "");
  CHECK(ahead.step("unroll_ilp@loop:1(factor=4,tail=0)") ==
        "the compiler writes out all iterations of the loop already");
  Kernel written(rows, source("  float sum = 0.f;\n#pragma unroll 8\n  for (int j = 0; j < 8; ++j) "
                              "sum += x[i * c + j];\n#pragma unroll 2\n  for (int j = 0; j < 8; "
                              "++j) sum += x[i * c + j];\n  y[i] = sum;\n"));
  CHECK(written.step("unroll_ilp@loop:0(factor=4,tail=0)")
            .starts_with("the compiler writes out all iterations of the loop already"));
  CHECK(written.step("unroll_ilp@loop:1(factor=4,tail=0)") == "");
}

TEST_CASE("a tunable that a move left behind is not tried") {
  Kernel k(
      "output: float32 y[n]\ninput: float32 x[n, c]\nscalar: int32 n = 8192\nscalar: int32 c = "
      "4096\ngrid: ceil_div(n, 256)\nblock: 256\n",
      "extern \"C\" __global__ void k(float* __restrict__ y, const float* __restrict__ x, int n, "
      "int c) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float sum = 0.f;\n  for (int j = 0; j < c; ++j) sum += x[i * c + j];\n  y[i] = sum;\n}\n");
  k.spec().tunables = {{"BLOCK", {64, 128, 256}, 256, ""}, {"UNUSED", {1, 2}, 1, ""}};
  k.spec().io.launch.grid[0] = Expression::parse("ceil_div(n, BLOCK)", "test");
  k.spec().io.launch.block[0] = Expression::parse("BLOCK", "test");
  k.restart();
  const auto sites = [&] {
    std::set<std::string> out;
    for (const MoveOffer& offer : k.offered("set_tunable")) out.insert(offer.instance.site);
    return out;
  };
  // of a spec that never names it
  CHECK(sites() == std::set<std::string>{"tunable:BLOCK", "tunable:UNUSED"});
  REQUIRE(k.step("parallelise_row_loop(lanes=128,cluster=1)") == "");
  CHECK(sites() == std::set<std::string>{"tunable:UNUSED"});
  CHECK(k.step("set_tunable@tunable:BLOCK(value=64)")
            .starts_with("nothing depends on BLOCK any more"));
}

TEST_SUITE_END();
