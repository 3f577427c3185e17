#include <doctest/doctest.h>

#include <string>

#include "tests/moves/normal/normal_kernels.h"

using namespace warpath;
using test::kIndex;
using test::Normal;
using test::refused;

// Statements as C was written: run against the kernel as it was.
TEST_SUITE_BEGIN("normalise_statements");

namespace {

const std::string kFollowed = "the facts follow all of the kernel";

/// The kernel's guarded body stays as it is.
void stays(const std::string& body) {
  CHECK_FALSE(refused("", kIndex + "  if (i < n) {\n" + body + "  }\n").empty());
}

}  // namespace

TEST_CASE("a variable is declared where it gets its first value") {
  Normal k("",
           "  int i, j;\n  float sum, part;\n  const float* row;\n"
           "  i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n    row = x + i % 10;\n"
           "    sum = 0;\n    for (j = 0; j < 8; j++) {\n      part = row[j];\n      sum += part;\n"
           "    }\n    y[i] = sum;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("  int i = blockIdx.x * blockDim.x + threadIdx.x;"));
  CHECK(k.has("    const float* row = x + i % 10;\n    float sum = 0;\n    for (int j = 0;"));
  CHECK(k.has("      float part = row[j];"));
  CHECK_FALSE(k.has("float sum, part;"));
  const auto lanes = k.path.listed("parallelise_row_loop");
  REQUIRE_FALSE(lanes.empty());
  k.path.step(lanes.front()).runs();
}

TEST_CASE("a variable that is seen before, or elsewhere, keeps its declaration") {
  stays(
      "    float v;\n    if (i % 2 == 0) {\n      v = 1;\n      y[i] = v;\n    } else {\n      v = "
      "2;\n      y[i] = v;\n    }\n");
  stays("    float v;\n    if (i % 2 == 0)\n      v = 1;\n    else\n      v = 2;\n    y[i] = v;\n");
  stays("    float v;\n    float* p = &v;\n    *p = 3;\n    v = *p + 1;\n    y[i] = v;\n");
  stays(
      "    float v;\n    float* p = nullptr;\n    {\n      v = 1;\n      p = &v;\n    }\n"
      "    y[i] = *p;\n");
  stays(
      "    float v;\n    switch (i % 2) {\n      case 0:\n        v = 1;\n        y[i] = v;\n"
      "        break;\n      default:\n        y[i] = 2;\n    }\n");
  stays("    volatile float v;\n    v = 1;\n    y[i] = v;\n");
  // the value of the last iteration is asked for
  stays(
      "    float last = 0;\n    int at;\n    for (int j = 0; j < 3; ++j) {\n"
      "      if (j > 0) last += x[at];\n      at = j;\n    }\n    y[i] = last;\n");
}

TEST_CASE("a step stands behind its statement, and a loop that it moves on is counted") {
  const Normal k("", kIndex +
                         "  if (i < n) {\n    const float* p = x + i % 50;\n    float s = 0;\n"
                         "    for (int j = 0; j < 8; j++) {\n      s += *p++ * 2;\n    }\n"
                         "    y[i] = s;\n  }\n");
  CHECK(k.why.empty());
  CHECK(k.has("const float* p_at = p + j;\n      s += *p_at * 2;\n    }"));
  const Normal declared("", kIndex +
                                "  if (i < n) {\n    int at = i % 50 + 4;\n"
                                "    const float a = x[at--];\n    y[i] = a - x[at];\n  }\n");
  CHECK(declared.has("const float a = x[at];\n    at--;"));
}

TEST_CASE("a step that may be skipped, or beside another use, stays in its statement") {
  stays(
      "    int at = i % 50;\n    float s = i > 9 && x[at++] > 0 ? 1 : 2;\n    y[i] = s + x[at];\n");
  stays("    int at = i % 50;\n    float s = i > 9 ? x[at++] : 0;\n    y[i] = s + x[at];\n");
  stays("    int at = i % 50;\n    float s = x[at++] + 1 * (at > 4);\n    y[i] = s;\n");
  stays(
      "    int at = i % 50;\n    int& other = at;\n    float s = x[at++];\n    y[i] = s + "
      "other;\n");
  stays("    float f = x[i];\n    float s = 2 * f++;\n    y[i] = s + f;\n");
}

TEST_CASE("a return that only decides what else is done is an if") {
  const std::string guard = kIndex + "  if (i >= n) return;\n  float v = x[i];\n  y[i] = 0;\n";
  const Normal branch("", guard +
                              "  if (v > 0) {\n    y[i] = v;\n    return;\n  }\n"
                              "  y[i] = 0.1f * v;\n");
  CHECK(branch.why.empty());
  CHECK(branch.has("if (i >= n) return;"));
  CHECK(branch.has("    y[i] = v;\n  } else {\n    y[i] = 0.1f * v;\n  }\n"));
  const Normal alone("", guard + "  if (v > 0) return;\n  y[i] = 0.1f * v;\n");
  CHECK(alone.has("if (!(v > 0)) {\n    y[i] = 0.1f * v;\n  }\n"));
  const Normal other("", kIndex + "  if (i > n - 1) return;\n  else y[i] = x[i];\n");
  CHECK(other.has("if (i <= n - 1) {\n    y[i] = x[i];\n  }\n"));
  const Normal block("",
                     kIndex + "  if (i >= n) {\n    return;\n  } else {\n    y[i] = x[i];\n  }\n");
  CHECK(block.has("if (i < n) {\n    y[i] = x[i];\n  }\n"));
  const Normal in_else("",
                       kIndex + "  if (i < n) {\n    y[i] = x[i];\n  } else {\n    return;\n  }\n");
  CHECK_FALSE(in_else.has("else"));
  const Normal last("", kIndex + "  if (i < n) y[i] = x[i];\n  return;\n");
  CHECK_FALSE(last.has("return"));
}

TEST_CASE("the guard of the thread's index, loops and what barriers follow keep their returns") {
  CHECK(refused("", kIndex + "  if (i >= n) return;\n  y[i] = x[i];\n") == kFollowed);
  CHECK(refused("",
                kIndex +
                    "  if (i >= n) return;\n  for (int j = 0; j < 9; ++j) {\n    if (x[j] > 1) {\n"
                    "      y[i] = j;\n      return;\n    }\n  }\n  y[i] = -1;\n") == kFollowed);
  CHECK(refused("", kIndex + "  __shared__ float part[64];\n  part[threadIdx.x] = 1;\n"
                             "  if (x[blockIdx.x] > 0.5f) return;\n"
                             "  __syncthreads();\n  if (i < n) y[i] = part[63 - threadIdx.x];\n") ==
        kFollowed);
}

TEST_SUITE_END();
