#include <doctest/doctest.h>

#include <string>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// Loops that are dealt to the threads of the grid, as libraries write them.
TEST_SUITE_BEGIN("grid_loops");

namespace {

/// y[i] of n points from x[i]; a grid of three blocks of 64.
MovePath points(const std::string& body, const std::string& parameters = "int n") {
  return MovePath(
      test::kernel_under_test("extern \"C\" __global__ void points(float* y, const float* x, " +
                                  parameters + ") {\n" + body + "}\n",
                              "points",
                              {{"y", "inout", "float32", "n"},
                               {"x", "input", "float32", "n"},
                               {"n", "scalar", "", "", 1003}},
                              "3", "64"));
}

const std::string kHead =
    "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) {\n";
const std::string kStep = "point_a_thread@loop:0";

}  // namespace

TEST_CASE("a loop that is dealt to the grid becomes a guard with a thread a point") {
  MovePath path = points(kHead + "    y[i] = 2.0f * x[i] + 1.0f;\n  }\n");
  path.step(kStep);
  CHECK(
      path.has("  const int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n    "
               "y[i] = 2.0f * x[i] + 1.0f;\n  }\n"));
  CHECK(path.variant().launch.grid[0].text() == "ceil_div(n, 64)");
  path.runs();
}

TEST_CASE("a step by name goes where nothing else asks for it") {
  const std::string stride = "  const int stride = gridDim.x * blockDim.x;\n";
  const std::string loop =
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i <= n - 1; i += stride) {\n";
  MovePath path = points(stride + loop + "    y[i] = x[i];\n  }\n");
  path.step(kStep);
  CHECK_FALSE(path.has("stride"));
  CHECK(path.has("if (i <= n - 1) {"));
  path.runs();
  CHECK(points(stride + loop + "    y[i] = x[i] + stride;\n  }\n").tried(kStep) ==
        "the kernel asks for its grid elsewhere");
}

TEST_CASE("the thread's number may have a name of its own, and so may the end") {
  MovePath path = points(
      "  int tid = threadIdx.x + blockIdx.x * blockDim.x;\n  const int end = n;\n"
      "  for (int i = tid; i < end; i += gridDim.x * blockDim.x) y[i] = x[i];\n");
  path.step(kStep);
  CHECK(path.has("  if (tid < end) {\n    y[tid] = x[tid];\n  }"));
  CHECK(path.variant().launch.grid[0].text() == "ceil_div(n, 64)");
  path.runs();
}

TEST_CASE("the end may be a quotient of arguments") {
  const std::string loop =
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < end; i += blockDim.x * gridDim.x) "
      "y[i] = x[i];\n";
  MovePath path = points("  const int end = (n - 3) / 2 + 1;\n" + loop);
  path.step(kStep).runs();
  CHECK(path.variant().launch.grid[0].text() == "ceil_div((n - 3) / 2 + 1, 64)");
  MovePath least = points("  const int end = min(n % 1000, n - 2);\n" + loop);
  least.step(kStep).runs();
  CHECK(points("  int end = n;\n  if (x[0] > 0.0f) end = n / 2;\n" + loop).tried(kStep) ==
        "the number of points is no expression over the arguments");
  CHECK(points("  const int end = n >> 1;\n" + loop).tried(kStep) ==
        "the number of points is no expression over the arguments");
}

TEST_CASE("the end is no argument that some threads change") {
  const std::string loop =
      "  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) "
      "y[i] = x[i];\n";
  for (const std::string change : {"if (x[0] > 100.0f) n = 4;", "if (x[0] > 1.0f) ; else n = 4;",
                                   "if (x[0] > 1.0f) n = 3; else n = 4;"}) {
    CHECK(points("  " + change + "\n" + loop).tried(kStep) ==
          "the number of points is no expression over the arguments");
  }
}

TEST_CASE("the index may have been declared before, alone, with others, or for something else") {
  const std::string head =
      "  for (i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)\n";
  for (const char* const names : {"i", "i, k", "k, i", "i, k, unused"}) {
    MovePath path = points("  int " + std::string(names) + ";\n" + head +
                           "    for (k = 0; k < 3; ++k) y[i] += x[i];\n");
    if (std::string(names) == "i") path = points("  int i;\n" + head + "    y[i] = x[i];\n");
    path.step(kStep).runs();
    CHECK(path.has("const int i = blockIdx.x * blockDim.x + threadIdx.x;"));
    CHECK_FALSE(path.has("int i,"));
    CHECK_FALSE(path.has(", i;"));
  }
  MovePath other = points("  int i = 3;\n  for (int k = 0; k < 2; ++k) i += k;\n" + kHead +
                          "    y[i] = x[i];\n  }\n");
  other.step("point_a_thread@loop:1").runs();
  CHECK(other.has("  {\n    const int i = blockIdx.x"));
}

TEST_CASE("what left out the rest of an iteration leaves the kernel") {
  MovePath path = points(kHead +
                         "    if (x[i] < 0.0f) continue;\n    for (int k = 0; k < 3; ++k) {\n      "
                         "if (k == 1) continue;\n      y[i] += x[i];\n    }\n  }\n");
  path.step(kStep);
  CHECK(path.has("if (!(x[i] < 0.0f)) {"));
  CHECK(path.has("if (k == 1) continue;"));
  path.runs();
}

TEST_CASE("a guard that all threads pass says how many items there are") {
  const auto exact = [](const std::string& body, const std::string& grid = "n / 64") {
    return MovePath(test::kernel_under_test(
        "extern \"C\" __global__ void exact(float* y, const float* x, int n) {\n"
        "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
            body + "}\n",
        "exact",
        {{"y", "output", "float32", "n"},
         {"x", "input", "float32", "n"},
         {"n", "scalar", "", "", 1024}},
        grid, "64"));
  };
  const std::string step = "pad_tail_and_mask@guard(form=3)";
  MovePath path = exact("  // doubled\n  float v = x[i];\n  y[i] = v + v;\n");
  path.step(step);
  CHECK(path.has("  if (i < n) {\n    // doubled\n    float v = x[i];\n    y[i] = v + v;\n  }\n}"));
  CHECK_FALSE(path.listed("register_block").empty());
  path.runs();
  path.step(path.listed("vectorize_global_loads").front()).runs();
  MovePath numbered = exact("  y[i] = x[i];\n  y[i + 512] = x[i + 512];\n", "8");
  numbered.step(step);
  CHECK(numbered.has("if (i < 512) {"));
  numbered.runs();
  CHECK(exact("  if (i < n) y[i] = x[i];\n").tried(step) == "a guard bounds i");
  CHECK(exact("  y[i] = x[i];\n  __syncthreads();\n").tried(step) ==
        "threads of the kernel work together");
}

TEST_CASE("moves that need a guard take it with them, the same node by either path") {
  const std::string body = kHead + "    y[i] = 2.0f * x[i] + 1.0f;\n  }\n";
  MovePath path = points(body), direct = points(body);
  REQUIRE_FALSE(direct.listed("register_block").empty());
  const std::string wanted = direct.listed("register_block").front();
  direct.step(wanted).runs();
  path.step(kStep).step("specialise_shape@shape").step(wanted);
  CHECK(path.variant() == direct.variant());

  MovePath rows = MovePath(test::kernel_under_test(
      "extern \"C\" __global__ void largest(float* y, const float* x, int N, int C) {\n"
      "  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < N; row += blockDim.x * "
      "gridDim.x) {\n    float m = x[row * C];\n    for (int c = 0; c < C; ++c) m = fmaxf(m, "
      "x[row * C + c]);\n    y[row] = m;\n  }\n}\n",
      "largest",
      {{"y", "output", "float32", "N"},
       {"x", "input", "float32", "N * C"},
       {"N", "scalar", "", "", 67},
       {"C", "scalar", "", "", 130}},
      "2", "32"));
  rows.on_gpu();
  CHECK_FALSE(rows.listed("parallelise_row_loop").empty());
  rows.step("parallelise_row_loop(cluster=1,lanes=32)").runs();
}

TEST_CASE("where the grid has a thread a point, the guard says what the loop said") {
  const auto covered = [](const std::string& body, const std::string& grid = "ceil_div(n, 64)") {
    MovePath path(test::kernel_under_test(
        "extern \"C\" __global__ void once(float* y, const float* x, const "
        "int* to, int n) {\n" +
            body + "}\n",
        "once",
        {{"y", "inout", "float32", "n"},
         {"x", "input", "float32", "n"},
         {"to", "input", "int32", "n", 0, {{"kind", "permutation"}, {"seed", 3}}},
         {"n", "scalar", "", "", 1003}},
        grid, "64"));
    return path;
  };
  const auto runs = [&](const std::string& body) {
    MovePath path = covered(body);
    path.step(kStep).runs();
    CHECK(path.variant().launch.grid[0].text() == "ceil_div(n, 64)");
    return path;
  };
  runs(kHead + "    y[to[i]] = x[i];\n  }\n");  // which elements, only the data tell
  runs(kHead + "    if (x[i] < 0.0f) return;\n    y[i] = x[i];\n  }\n");
  runs("  float sum = 1.0f;\n" + kHead + "    sum += x[i];\n    y[i] = sum;\n  }\n");
  runs(kHead + "    y += i;\n    y[0] = x[i];\n  }\n");
  const MovePath left = runs(kHead +
                             "    if (x[i] > 1.0f) break;\n    switch (i % 3) {\n      case 0:\n   "
                             "     y[i] = 2.0f;\n      "
                             "  break;\n      default:\n        y[i] = x[i];\n    }\n  }\n");
  CHECK(left.has("if (!(x[i] > 1.0f)) {"));
  CHECK(left.has("        break;"));
  const MovePath more =
      runs(kHead + "    y[i] = x[i];\n  }\n" + kHead + "    y[i] += 1.0f;\n  }\n");
  CHECK(
      more.has("  {\n    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    if (i < n) {"));
  // one that has fewer threads than points, and what would skip the statements behind the loop
  CHECK(covered(kHead + "    y[to[i]] = x[i];\n  }\n", "8").tried(kStep) != "");
  CHECK(covered(kHead + "    if (x[i] < 0.0f) continue;\n    y[i] = x[i];\n  }\n  y[0] = 1.0f;\n")
            .tried(kStep) == "more follows the loop");
  CHECK(covered("  for (int k = 0; k < 2; ++k) {\n  " + kHead + "    y[i] += x[i];\n  }\n  }\n")
            .tried("point_a_thread@loop:1") == "the loop stands in another statement");
}

TEST_CASE("a tunable that leaves points without a thread keeps the loop") {
  const auto tuned = [](const std::string& grid) {
    return MovePath(test::kernel_under_test(
        "extern \"C\" __global__ void tuned(float* y, const float* x, int n) {\n" + kHead +
            "    y[n - 1 - i] += x[i];\n    y[i / 2] += x[i];\n  }\n}\n",
        "tuned",
        {{"y", "inout", "float32", "n"},
         {"x", "input", "float32", "n"},
         {"n", "scalar", "", "", 1003}},
        grid, "BLOCK", 1e-5, {{"BLOCK", 128}}));
  };
  CHECK(tuned("ceil_div(n, BLOCK)").tried(kStep).empty());
  CHECK(tuned("ceil_div(n, 128)").tried(kStep) != "");  // 32 threads a block are too few
}

TEST_CASE("loops over two axes of the grid become two guards") {
  KernelSpec spec = test::kernel_under_test(
      "extern \"C\" __global__ void plane(float* y, const float* x, int h, int w) {\n"
      "  for (int j = blockIdx.x * blockDim.x + threadIdx.x; j < w; j += blockDim.x * gridDim.x)\n"
      "    for (int i = blockIdx.y * blockDim.y + threadIdx.y; i < h; i += blockDim.y * gridDim.y) "
      "{\n      if (x[i * w + j] < 0.0f) continue;\n      y[i * w + j] = x[i * w + j];\n    }\n}\n",
      "plane",
      {{"y", "inout", "float32", "h * w"},
       {"x", "input", "float32", "h * w"},
       {"h", "scalar", "", "", 37},
       {"w", "scalar", "", "", 50}},
      "4", "16");
  auto& reference = std::get<ReferenceKernel>(spec.reference);
  for (LaunchPlan* plan : {&spec.io.launch, &reference.launch})
    plan->grid[1] = Expression(10), plan->block[1] = Expression(4);
  MovePath path(spec);
  path.step("point_a_thread@loop:0").step("point_a_thread@loop:0").runs();
  CHECK(path.has("if (j < w) {"));
  CHECK(path.has("if (i < h) {"));
  CHECK(path.has("if (!(x[i * w + j] < 0.0f)) {"));
}

TEST_CASE("a loop over the grid that a macro writes becomes a guard at once") {
  MovePath path(test::kernel_under_test(
      "#define EACH_POINT(i, n) \\\n  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < (n); "
      "\\\n       i += blockDim.x * gridDim.x)\nextern \"C\" __global__ void points(float* y, "
      "const "
      "float* x, int n) {\n  EACH_POINT(i, n) {\n    y[i] = x[i];\n  }\n}\n",
      "points",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n"},
       {"n", "scalar", "", "", 1003}},
      "3", "64"));
  MovePath direct = path;
  path.step("normalise@kernel").step(kStep);
  direct.step(kStep).runs();
  CHECK(path.variant() == direct.variant());
}

TEST_CASE("a loop that the threads do not leave as they came keeps its form") {
  const auto refused = [](const std::string& body) { return points(body).tried(kStep); };
  CHECK(refused("  for (int i = threadIdx.x; i < n; i += blockDim.x) y[i] = x[i];\n") ==
        "the loop is not dealt to the grid");
  CHECK(refused("  for (int i = blockIdx.x * blockDim.x + threadIdx.x + 1; i < n; i += blockDim.x "
                "* gridDim.x) y[i] = x[i];\n") ==
        "the loop does not start at the thread's number in the grid");
  CHECK(refused("  if (n > 4)\n  " + kHead + "    y[i] = x[i];\n  }\n") ==
        "the loop stands in another statement");
  CHECK(refused(kHead + "    y[i] = x[i];\n  }\n  y[0] = 1.0f;\n") == "more follows the loop");
  CHECK(refused(kHead + "    if (x[i] > 9.0f) break;\n    y[i] = x[i];\n  }\n") != "");
  CHECK(refused(kHead + "    if (x[i] > 9.0f) return;\n    y[i] = x[i];\n  }\n") != "");
  CHECK(refused("  float sum = 0.0f;\n" + kHead + "    sum += x[i];\n    y[i] = sum;\n  }\n") !=
        "");
  CHECK(refused(kHead + "    y[i] = __shfl_xor_sync(~0u, x[i], 1);\n  }\n") ==
        "it calls __shfl_xor_sync");
  CHECK(refused("  y[threadIdx.x] = 0.0f;\n" + kHead + "    y[i] += x[i];\n  }\n") ==
        "every thread changes memory before the loop");
  CHECK(refused("  float first = y[0];\n" + kHead + "    y[i] = first;\n  }\n") ==
        "every thread changes memory before the loop");
  CHECK(refused(kHead + "    y[i] = y[(i + 1) % n] + x[i];\n  }\n") != "");
  CHECK(refused(kHead + "    y[i] = x[i] + gridDim.x;\n  }\n") ==
        "the kernel asks for its grid elsewhere");
}

TEST_CASE("a parallel loop is dealt to blocks along an axis that the grid has free") {
  const std::string step = "flatten_parallel_loop@loop:0";
  const auto rows = [](const std::string& body, const std::string& grid = "N") {
    return MovePath(test::kernel_under_test(
        "extern \"C\" __global__ void rows(float* y, float* z, const float* x, int N, int C) {\n" +
            body + "}\n",
        "rows",
        {{"y", "inout", "float32", "N * C"},
         {"z", "inout", "float32", "N"},
         {"x", "input", "float32", "N * C"},
         {"N", "scalar", "", "", 13},
         {"C", "scalar", "", "", 150}},
        grid, "32"));
  };
  const std::string row = "  const int r = blockIdx.x;\n";
  const std::string of_block = "  for (int c = threadIdx.x; c < C; c += blockDim.x) {\n";
  MovePath block = rows(row + "  const float s = 0.5f * z[r];\n" + of_block +
                        "    if (x[r * C + c] > 2.0f) continue;\n    y[r * C + c] = s * x[r * C + "
                        "c];\n  }\n");
  block.step(step).runs();
  CHECK(
      block.has("int c = threadIdx.x + blockDim.x * blockIdx.y; c < C; c += blockDim.x * "
                "gridDim.y"));
  CHECK(block.variant().launch.grid[1].text() == "min(ceil_div(150, 32), 65535)");
  MovePath thread = rows(row +
                         "  if (threadIdx.x > 0) return;\n  for (int c = 0; c < C; ++c) y[r * "
                         "C + c] += x[r * C + c];\n");
  thread.step(step).runs();
  CHECK(thread.has("for (int c = blockIdx.y; c < C; c += gridDim.y)"));
  CHECK(thread.variant().launch.grid[1].text() == "min(150, 65535)");
  MovePath shared = rows(row +
                         "  __shared__ float s;\n  if (threadIdx.x == 0) s = x[r];\n"
                         "  __syncthreads();\n" +
                         of_block + "    y[r * C + c] = s;\n  }\n");
  shared.step(step).runs();
  MovePath third = rows(
      row + "  const int p = blockIdx.y;\n" + of_block + "    y[r * C + c] = p;\n  }\n", "N; 1");
  third.step(step).runs();
  CHECK(third.has("gridDim.z"));

  const auto stays = [&](const std::string& body, const std::string& grid = "N") {
    return !rows(row + body, grid).tried(step).empty();
  };
  CHECK(stays(of_block + "    y[r * C + c] = x[r * C + c];\n  }\n  z[r] = 1.0f;\n"));
  CHECK(stays("  const float s = y[r * C];\n" + of_block + "    y[r * C + c] = s;\n  }\n"));
  CHECK(stays("  float s = 0.0f;\n" + of_block +
              "    s += x[r * C + c];\n    y[r * C + c] = s;\n  }\n"));
  CHECK(stays("  for (int k = 0; k < 2; ++k) {\n  " + of_block +
              "    y[r * C + c] += k;\n  }\n  "
              "}\n"));
  CHECK(stays("  for (int c = 0; c < 3; ++c) y[r * C + c] = 1.0f;\n"));
  CHECK(stays(of_block + "    y[r * C + c] = blockIdx.y + gridDim.z;\n  }\n"));
  CHECK(stays(of_block + "    y[r * C + c] = __shfl_xor_sync(~0u, x[c], 1);\n  }\n"));
}

TEST_SUITE_END();
