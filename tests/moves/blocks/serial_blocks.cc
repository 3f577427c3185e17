#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;
using test::TestArgument;

// Several neighbouring blocks of a launch, one after the other in one block.
TEST_SUITE_BEGIN("serial_blocks");

namespace {

constexpr std::int64_t kRows = 19, kColumns = 75;

/// y and z of 19 x 75 elements from x; the body says what becomes of them.
MovePath table(const std::string& body,
               const std::string& grid,
               const std::string& block,
               const std::string& head = "") {
  return MovePath(
      test::kernel_under_test(head +
                                  "extern \"C\" __global__ void table(float* y, float* z, "
                                  "const float* x, int N, int C) {\n" +
                                  body + "}\n",
                              "table",
                              {{"y", "inout", "float32", "N * C"},
                               {"z", "inout", "float32", "N * C"},
                               {"x", "input", "float32", "N * C"},
                               {"N", "scalar", "", "", kRows},
                               {"C", "scalar", "", "", kColumns}},
                              grid, block));
}

std::string step_of(const std::string& axis, int blocks = 4) {
  return "register_block@blocks_" + axis + "(points=" + std::to_string(blocks) + ")";
}

const std::string kStrided =
    "  for (int c = threadIdx.x; c < C; c += blockDim.x) y[r * C + c] = 2.0f * x[r * C + c];\n";

}  // namespace

TEST_CASE("a block makes the rows of several blocks, whatever its threads do with them") {
  MovePath path = table("  int r = blockIdx.x;\n" + kStrided, "N", "32");
  REQUIRE_FALSE(path.listed("register_block").empty());
  path.step(step_of("x"));
  CHECK(path.has("const unsigned int block = blockIdx.x * BLOCKS + turn;"));
  CHECK(path.has("if (block >= 19) break;"));
  CHECK(path.has("int r = block;"));
  CHECK(path.variant().launch.grid[0].text() == "ceil_div(N, 4)");
  path.runs();
}

TEST_CASE("an index may be anything that threads make of their place") {
  MovePath path = table(
      "  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);\n  if (i < N * C) y[i] = x[i];\n"
      "  if (i + 1 < N * C) z[i + 1] = x[i];\n",
      "ceil_div(N * C, 64)", "32");
  path.step(step_of("x", 2));
  path.runs();
}

TEST_CASE("a number of blocks that a tunable changes has its expression") {
  MovePath path(test::kernel_under_test(
      "extern \"C\" __global__ void pairs(float* y, const float* x, int n) {\n"
      "  int i = 2 * (blockIdx.x * blockDim.x + threadIdx.x);\n  if (i < n) y[i] = x[i];\n  if (i "
      "+ 1 < n) y[i + 1] = 2.0f * x[i];\n}\n",
      "pairs",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n"},
       {"n", "scalar", "", "", 1003}},
      "ceil_div(n, 2 * BLOCK)", "BLOCK", 1e-5, {{"BLOCK", 64}}));
  path.step(step_of("x", 2));
  CHECK(path.has("if (block >= (n + 2 * BLOCK - 1) / (2 * BLOCK)) break;"));
  path.runs();
  path.tunable("BLOCK", 32).runs();
}

TEST_CASE("every axis of the grid has blocks, and each block begins with the launch's arguments") {
  const std::string body =
      "  y += C;\n  y += blockIdx.y * C;\n  y -= C;\n  x += blockIdx.y * C;\n  int c = blockIdx.x "
      "* blockDim.x + "
      "threadIdx.x;\n  if (c >= C) return;\n  y[c] = x[c] + 1.0f;\n  atomicAdd(&z[c], x[c]);\n";
  MovePath path = table(body, "ceil_div(C, 32); N", "32");
  path.step(step_of("y", 8));
  CHECK(path.has("auto y_2 = y;"));
  CHECK(path.has("y_2 += block * C;"));
  CHECK(path.has("if (c >= C) continue;"));
  CHECK(path.variant().launch.grid[1].text() == "ceil_div(N, 8)");
  path.runs();
  MovePath deep =
      table("  int r = blockIdx.z * 2 + blockIdx.y;\n  if (r < N) {\n" + kStrided + "  }\n",
            "1; 2; 10", "32");
  deep.step(step_of("z", 2));
  CHECK_FALSE(deep.has("break;"));
  deep.runs();
}

TEST_CASE("who asks for the grid is told the number of blocks of the launch") {
  MovePath path = table("  int r = gridDim.x - 1 - blockIdx.x;\n" + kStrided, "N", "32");
  path.step(step_of("x"));
  CHECK(path.has("const unsigned int grid = 19;"));
  CHECK(path.has("int r = grid - 1 - block;"));
  path.runs();
}

TEST_CASE("threads that work together wait until the next block may have their shared memory") {
  const std::string sum =
      "  __shared__ float s[64];\n  int r = blockIdx.x, t = threadIdx.x;\n  if (r == 3) return;\n"
      "  float v = 0.0f;\n  for (int c = t; c < C; c += 64) v += x[r * C + c];\n  s[t] = v;\n"
      "  __syncthreads();\n  if (t >= 2) return;\n  float whole = 0.0f;\n"
      "  for (int k = 0; k < 32; ++k) whole += s[2 * k + t];\n  y[r * C + t] = whole;\n";
  MovePath path = table(sum, "N", "64");
  path.step(step_of("x", 2));
  CHECK(path.has("if (turn > 0) __syncthreads();"));
  CHECK(path.has("if (t >= 2) continue;"));
  path.runs();
  MovePath warps = table(
      "  int r = blockIdx.x;\n  float v = x[r * C + threadIdx.x];\n  v += __shfl_xor_sync(~0u, v, "
      "1);\n  y[r * C + threadIdx.x] = v;\n",
      "N", "32");
  warps.step(step_of("x", 2));
  CHECK(warps.has("__syncwarp();"));
  warps.runs();
}

TEST_CASE("threads that meet under a condition go on where their warp does") {
  const auto sums = [](const std::string& row, const std::string& guard) {
    return table("  int t = threadIdx.x, " + row + ";\n  if (" + guard +
                     ") {\n    float v = x[r * C + t % 32];\n    v += __shfl_xor_sync(~0u, v, 1);\n"
                     "    y[r * C + t % 32] = v;\n  }\n",
                 "ceil_div(N, 2)", "64");
  };
  MovePath first = table(
      "  int r = blockIdx.x, t = threadIdx.x;\n  if (t < 32) {\n    float v = x[r * C + t];\n    v "
      "+= "
      "__shfl_xor_sync(~0u, v, 1);\n    y[r * C + t] = v;\n  }\n",
      "N", "64");
  first.step(step_of("x", 2));
  first.runs();
  MovePath steps = table(
      "  int r = blockIdx.x, t = threadIdx.x;\n  if (t < 32) {\n    float v = x[r * C + t];\n    "
      "for "
      "(int i = 16; i >= 1; i >>= 1) v += __shfl_xor_sync(~0u, v, i);\n    y[r * C + t] = v;\n  "
      "}\n",
      "N", "64");
  steps.step(step_of("x", 2));
  steps.runs();
  MovePath rows = sums("r = 2 * blockIdx.x + t / 32", "r < N");
  rows.step(step_of("x", 2));
  rows.runs();
  const std::string apart =
      "threads that do not take part in a shuffle or barrier may have finished";
  const auto refused = [&](const std::string& row, const std::string& guard) {
    return sums(row, guard).tried(step_of("x", 2)) == apart;
  };
  CHECK(refused("r = 2 * blockIdx.x + t % 2", "r < N"));  // the last warp has half of its lanes
  CHECK(refused("r = blockIdx.x", "t < 48"));
  CHECK(refused("r = blockIdx.x", "z[t] > 0.0f"));
  CHECK(refused("r = blockIdx.x", "t < 32 || x[t] > 0.0f"));
  CHECK(
      table(
          "  int r = blockIdx.x;\n  for (int c = threadIdx.x; c < C; c += 32)\n    y[r * C + c] = "
          "__shfl_xor_sync(~0u, x[r * C + c], 1);\n",
          "N", "32")
          .tried(step_of("x")) == apart);
  const auto halved = [&](const std::string& head, const std::string& more) {
    return table(
               "  int r = blockIdx.x, t = threadIdx.x;\n  float v = x[t];\n  if (t < 32) {\n    "
               "for (" +
                   head + ") {\n      v += __shfl_xor_sync(~0u, v, 1);\n" + more +
                   "    }\n    y[r * C + t] = v;\n  }\n",
               "N", "64")
        .tried(step_of("x"));
  };
  CHECK(halved("int i = t; i >= 1; i >>= 1", "") == apart);
  CHECK(halved("int i = 16; i >= t; i >>= 1", "") == apart);
  CHECK(halved("int i = 16; i >= 1; i >>= 1", "      if (v > 1.0f) break;\n") == apart);
  CHECK(halved("int i = 16; i >= 1; i >>= 1",
               "      if (v > 1.0f) continue;\n      v = "
               "__shfl_xor_sync(~0u, v, 2);\n") == apart);
  CHECK(halved("int i = 16; i >= 1; i >>= 1", "      if (v > 1.0f) i >>= 1;\n") == apart);
  CHECK(table("  int r = blockIdx.x, t = threadIdx.x;\n  float v = x[t];\n  y[r * C + t] = t < 5 ? "
              "__shfl_xor_sync(~0u, v, 1) : v;\n",
              "N", "32")
            .tried(step_of("x")) == apart);
  CHECK(
      table(
          "  __shared__ float s[64];\n  int r = blockIdx.x, t = threadIdx.x;\n  if (t < 32) {\n    "
          "s[t] = x[r * C + t];\n    __syncthreads();\n    y[r * C + t] = s[31 - t];\n  }\n",
          "N", "64")
          .tried(step_of("x")) == apart);
}

TEST_CASE("blocks stay apart where one after the other is not the same, with the reason") {
  const auto refused = [](const std::string& body, const std::string& axis = "x",
                          const std::string& head = "") {
    return table(body, "N", "64", head).tried(step_of(axis));
  };
  const std::string row = "  int r = blockIdx.x;\n";
  CHECK(refused("  for (int r = blockIdx.x; r < N; r += gridDim.x) {\n" + kStrided + "  }\n") ==
        "a loop goes over the grid already");
  CHECK(refused(row + kStrided, "y") == "the kernel does not ask for its block along y");
  CHECK(refused("  dim3 at = blockIdx;\n  y[at.x] = 1.0f;\n") ==
        "an index of the launch is used in a way that is not understood");
  CHECK(refused(row + "  for (int c = 0; c < C; ++c) {\n    if (x[c] < 0.0f) return;\n    y[r * C "
                      "+ c] = x[c];\n  }\n") == "the kernel leaves from inside a loop");
  CHECK(refused(row + "  __shared__ float s[64];\n  if (threadIdx.x > r) return;\n  s[threadIdx.x] "
                      "= x[r];\n  __syncthreads();\n  y[r * C + threadIdx.x] = s[0];\n") ==
        "threads leave the kernel at different places");
  CHECK(refused(row + "  while (z[r] == 0.0f) {\n  }\n  if (r > 0) z[r - 1] = 1.0f;\n") ==
        "a loop waits for what others write");
  CHECK(refused("  y[PLACE] = x[PLACE];\n", "x", "#define PLACE blockIdx.x\n") ==
        "a macro uses the indices of the launch");
  CHECK(table(row + kStrided, "3", "64").tried(step_of("x")) == "too few blocks would remain");
}

TEST_CASE("blocks in turn are the last resort: what knows a kernel's points comes first") {
  MovePath path =
      table("  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < N * C) y[i] = x[i];\n",
            "ceil_div(N * C, 64)", "64");
  for (const std::string& one : path.listed("register_block"))
    CHECK(one.find("@blocks") == std::string::npos);
}

TEST_SUITE_END();
