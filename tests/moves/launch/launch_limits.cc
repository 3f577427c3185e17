#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// What a move may assume of the launch: that it reaches every index below the guard, that blocks
// wait for none that comes later, that its numbers stay.
TEST_SUITE_BEGIN("launch_limits");

namespace {

KernelSpec product(const std::string& grid) {
  return test::kernel_under_test(
      "extern \"C\" __global__ void product(float* c, const float* a, const float* b, int M, int "
      "N, int K) {\n  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= M * N) return;\n  "
      "int m = i / N, n = i % N;\n  float sum = 0.0f;\n  for (int k = 0; k < K; ++k) sum += a[m * "
      "K "
      "+ k] * b[n * K + k];\n  c[i] = sum;\n}\n",
      "product",
      {{"c", "inout", "float32", "M * N"},
       {"a", "input", "float32", "M * K"},
       {"b", "input", "float32", "N * K"},
       {"M", "scalar", "", "", 64},
       {"N", "scalar", "", "", 32},
       {"K", "scalar", "", "", 16}},
      grid, "64", 1e-4);
}

KernelSpec rows_of(const std::string& statements) {
  return test::kernel_under_test(
      "extern \"C\" __global__ void rows(float* y, const float* x, int* turn, int N, int C) {\n"
      "  __shared__ float first;\n  int row = blockIdx.x;\n" +
          statements +
          "  if (threadIdx.x == 0) first = x[row * C];\n  __syncthreads();\n  for (int j = "
          "threadIdx.x; j < C; j += blockDim.x) y[row * C + j] = x[row * C + j] - first;\n}\n",
      "rows",
      {{"y", "output", "float32", "N * C"},
       {"x", "input", "float32", "N * C"},
       {"turn", "inout", "int32", "1", 0, {{"kind", "zeros"}}},
       {"N", "scalar", "", "", 40},
       {"C", "scalar", "", "", 70}},
      "N", "32");
}

}  // namespace

TEST_CASE("tiles make no output that the launch leaves undone, whatever the guard allows") {
  const std::string step = "tile_and_block(bk=8,bm=32,bn=32,stages=1,tm=4,tn=4)";
  MovePath(product("M * N / 64")).step(step).runs();
  for (const std::string move : {"tile_and_block", "smem_tile_stage", "register_block"}) {
    for (const std::string& listed : MovePath(product("20")).listed(move)) {
      CAPTURE(listed);
      MovePath(product("20")).step(listed).runs();
    }
  }
  MovePath(product("20")).step(step).runs();
}

TEST_CASE("blocks take turns only where none waits for another, and none changes a parameter") {
  const std::string step = "persistent_grid@block(blocks_per_sm=1)";
  MovePath(rows_of("")).step(step).runs();
  CHECK(MovePath(rows_of("  while (atomicAdd(turn, 0) < row) {\n  }\n")).tried(step) ==
        "a loop waits for what others write");
  CHECK(MovePath(rows_of("  while (true) {\n    if (turn[0] >= row) break;\n    turn[0] = row;\n  "
                         "}\n"))
            .tried(step) == "a loop waits for what others write");
  // the number waited for in a local, behind a macro, and in a helper
  CHECK(
      MovePath(rows_of("  int seen = 0;\n  do {\n    seen = atomicAdd(turn, 0);\n  } while (seen < "
                       "row);\n"))
          .tried(step) == "a loop waits for what others write");
  CHECK(MovePath(
            rows_of("  while (true) {\n    int seen = turn[0];\n    if (seen >= row) break;\n    "
                    "turn[0] = row;\n  }\n"))
            .tried(step) == "a loop waits for what others write");
  CHECK(MovePath(rows_of("  C = C - 1;\n")).tried(step) == "C would go from one block to the next");
}

TEST_CASE("what is read outside of the guard does not make the launch reach its end") {
  const KernelSpec spec = test::kernel_under_test(
      "extern \"C\" __global__ void product(float* c, const float* a, const float* b, const float* "
      "bias, int M, int N, int K) {\n  int row = blockIdx.y * blockDim.y + threadIdx.y;\n  int col "
      "= blockIdx.x * blockDim.x + threadIdx.x;\n  float w = bias[col];\n  if (row < M && col < N) "
      "{\n    float sum = 0.0f;\n    for (int k = 0; k < K; ++k) sum += a[row * K + k] * b[k * N + "
      "col];\n    c[row * N + col] = sum + w;\n  }\n}\n",
      "product",
      {{"c", "inout", "float32", "M * N"},
       {"a", "input", "float32", "M * K"},
       {"b", "input", "float32", "K * N"},
       {"bias", "input", "float32", "N"},
       {"M", "scalar", "", "", 64},
       {"N", "scalar", "", "", 64},
       {"K", "scalar", "", "", 32}},
      "1; ceil_div(M, 16)", "16; 16", 1e-4);
  for (const std::string move : {"tile_and_block", "smem_tile_stage", "register_block"}) {
    for (const std::string& listed : MovePath(spec).listed(move)) {
      CAPTURE(listed);
      MovePath(spec).step(listed).runs();
    }
  }
}

TEST_SUITE_END();
