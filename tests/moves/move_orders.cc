#include <doctest/doctest.h>

#include <string>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// What one move writes is a kernel that the others read as they would a person's.
TEST_SUITE_BEGIN("move_orders");

namespace {

/// y[i][j] = 2 * x[i][j], a thread a row.
KernelSpec doubled_rows(std::int64_t columns) {
  return test::kernel_under_test(
      "extern \"C\" __global__ void twice(float* y, const float* x, int N, int C) {\n  const int i "
      "= blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= N) return;\n"
      "  for (int j = 0; j < C; ++j) y[i * C + j] = 2.0f * x[i * C + j];\n}\n",
      "twice",
      {{"y", "output", "float32", "N * C"},
       {"x", "input", "float32", "N * C"},
       {"N", "scalar", "", "", 37},
       {"C", "scalar", "", "", columns}},
      "ceil_div(N, 32)", "32");
}

/// Each thread runs over all `points` points of `size` numbers, of which `terms` makes a number,
/// and compares them with its own.
KernelSpec all_pairs(std::int64_t points,
                     int size,
                     const std::string& terms,
                     const std::string& index = "int i") {
  const std::string s = std::to_string(size);
  return test::kernel_under_test(
      "extern \"C\" __global__ void pairs(float* f, const float* x, int n) {\n  " + index +
          " = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
          "  float own = x[" +
          s + " * i];\n  float sum = 0.0f;\n  for (int j = 0; j < n; j++) {\n    float d = " +
          terms + " - own;\n    sum += d * d;\n  }\n  f[i] = sum;\n}\n",
      "pairs",
      {{"f", "output", "float32", "n"},
       {"x", "input", "float32", s + " * n + 2"},
       {"n", "scalar", "", "", points}},
      "ceil_div(n, 64)", "64", 1e-4);
}

}  // namespace

TEST_CASE("items of a flattened loop are packed and strided over") {
  for (const std::int64_t columns : {24, 25}) {
    CAPTURE(columns);
    MovePath flat(doubled_rows(columns));
    flat.step("specialise_shape@shape").step("flatten_parallel_loop@loop:0");
    for (const char* const next :
         {"vectorize_global_loads@thread(width=4)", "vectorize_global_loads@thread(width=8)",
          "persistent_grid@thread(blocks_per_sm=2)"}) {
      CAPTURE(next);
      MovePath path = flat;
      path.step(next).runs();
    }
    MovePath both = flat;
    both.step("persistent_grid@thread(blocks_per_sm=1)")
        .step("vectorize_global_loads@loop:0(width=4)")
        .runs();
  }
}

TEST_CASE("a const index of a thread is as good as any other") {
  for (const char* const move :
       {"persistent_grid@thread(blocks_per_sm=1)", "pad_tail_and_mask@guard(form=2)",
        "smem_tile_stage@stream:0(tile=32)", "register_block@points(points=2)"}) {
    for (const char* const index : {"const int i", "int const i"}) {
      CAPTURE(move);
      MovePath path(all_pairs(100, 1, "x[j]", index));
      path.step("specialise_shape@shape").step(move);
      path.runs();
    }
  }
  const MovePath shared(test::kernel_under_test(
      "extern \"C\" __global__ void k(float* y, int n) {\n  const int i = blockIdx.x * blockDim.x "
      "+ threadIdx.x, N = 3;\n  if (i >= n) return;\n  float a[N] = {};\n"
      "  y[i] = a[i % N];\n}\n",
      "k", {{"y", "output", "float32", "n"}, {"n", "scalar", "", "", 100}}, "ceil_div(n, 64)",
      "64"));
  CHECK(MovePath(shared).tried("pad_tail_and_mask@guard(form=2)") ==
        "the thread's index cannot change");
}

TEST_CASE("points of several numbers and neighbouring elements are staged") {
  const auto staged = [](int size, const std::string& terms, const std::string& tile,
                         const std::string& fill) {
    CAPTURE(terms);
    MovePath path(all_pairs(150, size, terms));
    path.step("smem_tile_stage@stream:0(tile=32)");
    CAPTURE(path.source());
    CHECK(path.has("x_tile[" + tile + "]"));
    CHECK(path.has(fill));
    path.runs();
  };
  staged(1, "x[j]", "TILE", "j0 + e < j_last");
  staged(3, "x[3 * j] * x[3 * j + 1] + x[3 * j + 2]", "TILE * 3", "e < (j_last - j0) * 3");
  staged(4, "x[4 * j + 3] * x[j * 4 + 1]", "TILE * 4", "e < (j_last - j0) * 4 - 1");
  staged(1, "x[j + 2] + x[j]", "TILE + 2", "e < j_last - j0 + 2");
  staged(2, "x[2 * j + 3] + x[2 * j]", "TILE * 2 + 2", "e < (j_last - j0) * 2 + 2");
  // most would be of no use
  CHECK(MovePath(all_pairs(150, 4, "x[4 * j]")).tried("smem_tile_stage@stream:0(tile=32)") ==
        "no element is loaded by all threads of a block");
}

TEST_CASE("a load in the loop's head is none of its steps") {
  const MovePath head(test::kernel_under_test(
      "extern \"C\" __global__ void k(float* y, const float* x, const int* first, int n) {\n  int "
      "i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n"
      "  float sum = 0.0f;\n  for (int j = first[0]; j < n; j++) sum += x[j] * x[i];\n  y[i] = "
      "sum;\n}\n",
      "k",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n"},
       {"first",
        "input",
        "int32",
        "1",
        0,
        {{"kind", "randint"}, {"low", 0}, {"high", 3}, {"seed", 1}}},
       {"n", "scalar", "", "", 100}},
      "ceil_div(n, 64)", "64", 1e-4));
  for (const std::string& step : head.listed("smem_tile_stage")) MovePath(head).step(step).runs();
}

TEST_CASE("an element that a step may leave out is staged only if it exists") {
  MovePath inside(all_pairs(150, 1, "(j != i ? x[j + 1] : 0.0f)"));
  inside.step("smem_tile_stage@stream:0(tile=32)").runs();
  CHECK(MovePath(all_pairs(150, 1, "(j + 3 < n ? x[j + 3] : 0.0f)"))
            .tried("smem_tile_stage@stream:0(tile=32)") ==
        "no element is loaded by all threads of a block");
}

TEST_SUITE_END();
