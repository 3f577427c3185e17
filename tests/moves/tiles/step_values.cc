#include <doctest/doctest.h>

#include <array>
#include <string>
#include <vector>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

// What the steps of a loop have for all threads of a block, and sums of two loads that are no
// products: run against the kernel as it was.
TEST_SUITE_BEGIN("step_values");

namespace {

/// y[n] of x[n] and t[m].
KernelSpec table_kernel(const std::string& body, const std::string& before = "") {
  return test::kernel_under_test(
      before +
          "extern \"C\" __global__ void k(float* y, const float* x, const float* t, int n, int m) "
          "{\n"
          "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i >= n) return;\n" +
          body + "\n}\n",
      "k",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n"},
       {"t", "input", "float32", "m"},
       {"n", "scalar", "", "", 150},
       {"m", "scalar", "", "", 70}},
      "ceil_div(n, 64)", "64", 1e-4);
}

/// A step's `own` statements, and what it does with them.
KernelSpec loop_kernel(const std::string& own,
                       const std::string& use,
                       const std::string& head = "") {
  return table_kernel("  float s = 0.0f;\n  int moved = 1;\n  " +
                      (head.empty() ? "for (int j = 0; j < m; j++)" : head) + " {\n    " + own +
                      "\n    " + use + "\n  }\n  y[i] = s + moved;");
}

KernelSpec pairs_kernel(const std::string& step, const std::string& type = "float") {
  return test::kernel_under_test(
      "extern \"C\" __global__ void k(float* out, const float* a, const float* b, int n, int m, "
      "int d) "
      "{\n  int j = blockIdx.x * blockDim.x + threadIdx.x;\n  int i = blockIdx.y * blockDim.y + "
      "threadIdx.y;\n  if (i >= n || j >= m) return;\n  " +
          type + " s = 0.0f;\n  for (int k = 0; k < d; k++) {\n    " + step +
          "\n  }\n  out[i * m + j] = s;\n}\n",
      "k",
      {{"out", "output", "float32", "n * m"},
       {"a", "input", "float32", "n * d"},
       {"b", "input", "float32", "m * d"},
       {"n", "scalar", "", "", 37},
       {"m", "scalar", "", "", 50},
       {"d", "scalar", "", "", 21}},
      "ceil_div(m, 16); ceil_div(n, 16)", "16; 16", 1e-4);
}

const std::string kStep = "smem_tile_stage@values:0(tile=32)";

}  // namespace

TEST_CASE("what a step computes for all threads is computed once a block") {
  const std::string own =
      "int b = j == 0 ? m - 1 : j - 1;\n    float u = t[j], v = t[b];\n    const float w = u / (v "
      "* v + "
      "1.0f);";
  MovePath path(loop_kernel(own, "s += w * x[i] + v;"));
  path.step(kStep);
  CHECK(path.has("__shared__ float v_tile[TILE];\n"));
  CHECK(path.has("__shared__ float w_tile[TILE];\n"));
  CHECK_FALSE(path.has("u_tile"));
  CHECK(path.has("w_tile[e] = w;"));
  CHECK(path.has("float w = w_tile[j - j0];"));
  path.runs();
  // a variable of a name of the kernel, a statement between, threads beyond the end
  MovePath apart(
      loop_kernel("float e = sqrtf(fabsf(t[j]));\n    s += e;\n    float TILE = e / 3.0f;",
                  "s += TILE * x[i];"));
  apart.step(kStep).runs();
}

TEST_CASE("what differs by thread, step by step or by its writes is not") {
  for (const auto& [own, use, head] :
       {// of the thread; carried from step to step; changed behind its declaration
        std::array<std::string, 3>{"float w = x[i] / t[j];", "s += w;", ""},
        {"float w = t[j] / (float)moved;", "s += w; moved = j + 1;", ""},
        {"float w = t[j] / 3.0f;", "w += x[i]; s += w;", ""},
        {"float w = t[j] / 3.0f; float* p = &w;", "*p = x[i]; s += w;", ""},
        {"float w = t[j] / 3.0f; float& r = w;", "r = x[i]; s += w;", ""},
        {"volatile float w = t[j] / 3.0f;", "s += w;", ""},
        {"float w = t[(j + threadIdx.x) % m] / 3.0f;", "s += w;", ""},
        {"float w = t[moved++ % m] / 3.0f;", "s += w;", ""},
        // not in every step, or not in steps of one that all threads share
        {"if (j % 7 == 3) continue;\n    float w = t[j] / 3.0f;", "s += w;", ""},
        {"float w = t[j] / 3.0f;", "s += w; if (s > 100.0f) break;", ""},
        {"float w = t[j] / 3.0f;", "s += w;", "for (int j = i % 3; j < m; j++)"},
        {"float w = t[j] / 3.0f;", "s += w;", "for (int j = 0; j < m; j += 2)"},
        // nothing but loads, which are staged as they are
        {"float w = t[j];", "s += w * x[i];", ""},
        // nothing that anybody asks for
        {"float w = t[j] / 3.0f;", "s += x[i];", ""}}) {
    CAPTURE(own + use + head);
    CHECK_FALSE(MovePath(loop_kernel(own, use, head)).tried(kStep).empty());
  }
  // memory that the kernel writes, a function that asks for its thread
  CHECK_FALSE(
      MovePath(table_kernel("  float s = 0.0f;\n  for (int j = 0; j < 64; j++) {\n    float w = "
                            "y[j] / 3.0f;\n    s += w;\n  }\n  y[i] = s;"))
          .tried(kStep)
          .empty());
  CHECK_FALSE(
      MovePath(
          table_kernel("  float s = 0.0f;\n  for (int j = 0; j < m; j++) {\n    float w = t[j] / "
                       "own();\n    s += w;\n  }\n  y[i] = s;",
                       "__device__ float own() { return 1.0f + threadIdx.x; }\n"))
          .tried(kStep)
          .empty());
}

TEST_CASE("a stream in a guard around the rest of the kernel is staged as behind an early exit") {
  const auto kernel = [](const std::string& body) {
    return test::kernel_under_test(
        "extern \"C\" __global__ void k(float* y, const float* t, int n, int m) {\n  int i = "
        "blockIdx.x * blockDim.x + threadIdx.x;\n" +
            body + "}\n",
        "k",
        {{"y", "output", "float32", "n"},
         {"t", "input", "float32", "m", 0, {{"kind", "randn"}, {"seed", 3}}},
         {"n", "scalar", "", "", 71},
         {"m", "scalar", "", "", 70}},
        "ceil_div(n, 32)", "32", 1e-4);
  };
  const std::string loop = "for (int j = 0; j < m; j++) {";
  MovePath guarded(kernel("  if (i < n) {\n    float s = i;\n    " + loop +
                          "\n      s += t[j] * s;\n    }\n    y[i] = s;\n  }\n"));
  MovePath exits(kernel("  if (i >= n) return;\n  float s = i;\n  " + loop +
                        "\n    s += t[j] * s;\n  }\n  y[i] = s;\n"));
  guarded.step("smem_tile_stage@stream:0(tile=32)").runs();
  exits.step("smem_tile_stage@stream:0(tile=32)").runs();
  CHECK(guarded.source() == exits.source());
  // What the guard's block calls i and what stands behind it are not moved.
  for (const std::string& body :
       {"  float s = 1;\n  if (i < n) {\n    float s = i;\n    " + loop +
            "\n      s += t[j] * s;\n    }\n    y[i] = s;\n  }\n",
        "  if (i < n) {\n    float s = i;\n    " + loop +
            "\n      s += t[j] * s;\n    }\n    y[i] = s;\n  }\n  if (i == 0) y[0] = 1;\n"})
    CHECK_FALSE(MovePath(kernel(body)).tried("smem_tile_stage@stream:0(tile=32)").empty());
}

TEST_CASE("a loop whose header, or a load, stands on several lines is staged") {
  for (const char* const head :
       {"for (int j = 0;\n  j < m;\nj++)", "for (\nint j = 0; j < m\n; j++)"}) {
    CAPTURE(head);
    MovePath path(loop_kernel("float u = t\n[\nj];", "s += u * x[i];", head));
    path.step("smem_tile_stage@stream:0(tile=32)").runs();
    CHECK(path.has("for (int j = j0; j < j_last; j++) {"));
    CHECK(path.has("float u = t_tile[j - j0];"));
  }
}

TEST_CASE("a block of two axes stages what it streams") {
  const MovePath grid(test::kernel_under_test(
      "extern \"C\" __global__ void k(float* y, const float* t, int w, int h, int m) {\n  int c = "
      "blockIdx.x * blockDim.x + threadIdx.x;\n  int r = blockIdx.y * blockDim.y + threadIdx.y;\n  "
      "if (c "
      ">= w) return;\n  if (r >= h) return;\n  float s = 0.0f;\n  for (int j = 0; j < m; j++) {\n  "
      "  s "
      "+= t[j] * c + r;\n  }\n  for (int u = 0; u < 2; u++) s += u;\n  y[r * w + c] = s;\n}\n",
      "k",
      {{"y", "output", "float32", "w * h"},
       {"t", "input", "float32", "m"},
       {"w", "scalar", "", "", 21},
       {"h", "scalar", "", "", 13},
       {"m", "scalar", "", "", 70}},
      "ceil_div(w, 8); ceil_div(h, 4)", "8; 4", 1e-4));
  MovePath path = grid;
  path.step("smem_tile_stage@stream:0(tile=32)");
  CHECK(
      path.has("for (int e = threadIdx.y * blockDim.x + threadIdx.x; j0 + e < j_last; e += "
               "blockDim.x * blockDim.y)"));
  CHECK(path.has("if (active && active_2) {"));
  path.runs();
}

TEST_CASE("sums of what two loads make, which is nothing where both are 0, are tiled") {
  for (const std::string step :
       {"float e = a[i * d + k] - b[j * d + k]; s += e * e;",
        "s += fabsf(a[i * d + k] - b[j * d + k]);",
        "float u = a[i * d + k]; const float v = b[j * d + k]; s += (u - v) * (u - v) * 0.5f;",
        "s += fmaxf(a[i * d + k], b[j * d + k]);",
        "float e = b[j * d + k] - a[i * d + k]; s += -e;"}) {
    CAPTURE(step);
    MovePath(pairs_kernel(step)).step("register_block@sum(tm=2,tn=2)").runs();
    MovePath(pairs_kernel(step)).step("smem_tile_stage@sum(step=16,tile=16)").runs();
    const auto tiles = MovePath(pairs_kernel(step)).listed("tile_and_block");
    REQUIRE_FALSE(tiles.empty());
    MovePath(pairs_kernel(step)).step(tiles.back()).runs();
  }
  for (const std::string step :
       {// beyond the end of a tile it would not be 0, or who knows
        "float e = a[i * d + k] - b[j * d + k] + 1.0f; s += e * e;",
        "s += expf(a[i * d + k] - b[j * d + k]);", "s += a[i * d + k] / b[j * d + k];",
        // more than two loads, or other values
        "float e = a[i * d + k] - b[j * d + k]; s += e * e * a[k];",
        "float e = a[i * d + k] - b[j * d + k]; s += e * e * k;",
        "float e = a[i * d + k] - b[j * d + k]; s += e * e * (i + 1);",
        "float e = a[i * d + k] - a[i * d + k + 1]; s += e * e;",
        // a variable that changes, or that others reach
        "float e = a[i * d + k] - b[j * d + k]; e = e * e; s += e;",
        "volatile float e = a[i * d + k] - b[j * d + k]; s += e * e;",
        "double e = a[i * d + k] - b[j * d + k]; s += e * e;",
        "int e = a[i * d + k] - b[j * d + k]; s += e * e;"}) {
    CAPTURE(step);
    CHECK_FALSE(MovePath(pairs_kernel(step)).tried("register_block@sum(tm=2,tn=2)").empty());
    CHECK(MovePath(pairs_kernel(step)).listed("tile_and_block").empty());
  }
}

TEST_SUITE_END();
