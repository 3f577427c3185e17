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

TEST_CASE("what a reference, a macro or another variable of its name may mean stays as it is") {
  const std::string loop =
      "    for (int j = 0; j < 5; ++j) {\n      s += x[k] * x[r];\n      k += 3;\n    }\n"
      "    y[i] = s;\n";
  for (const std::string reference : {"const int& r = k;", "auto&& r = k;", "const int& r = (k);"})
    stays("    float s = 0;\n    int k = i % 20;\n    " + reference + "\n" + loop);
  stays("    int k = i % 20;\n    const int& r = k;\n    y[i] = x[k++] * r;\n");
  // a macro that says a variable; one that is a number counts
  const auto moved = [](const std::string& macro) {
    return refused(macro, kIndex +
                              "  if (i < n) {\n    int w = 2;\n    const float* at = x;\n"
                              "    float s = 0;\n    for (int j = 0; j < 5; ++j) {\n"
                              "      s += *at;\n      at += W;\n    }\n    y[i] = s * w;\n  }\n");
  };
  CHECK_FALSE(moved("#define W w\n").empty());
  const Normal number("#define W 2\n",
                      kIndex +
                          "  if (i < n) {\n    const float* at = x;\n    float s = 0;\n"
                          "    for (int j = 0; j < 5; ++j) {\n      s += *at;\n      at += W;\n"
                          "    }\n    y[i] = s;\n  }\n");
  CHECK(number.has("at_at = at + "));
  for (const std::string other : {"int& q = w;", "int* q = &w;"}) {
    const std::string change = other[3] == '&' ? "q += 1;" : "*q += 1;";
    stays("    int w = 2, at = 0;\n    float s = 0;\n    " + other +
          "\n    for (int j = 0; j < 5; ++j) {\n      s += x[at];\n      " + change +
          "\n      at += w;\n    }\n    y[i] = s;\n");
  }
  for (const std::string step : {"if (j == 1) MORE;", "MORE;"}) {
    const std::string more = step[0] == 'i' ? "continue" : "j += 1";
    CHECK_FALSE(refused("#define MORE " + more + "\n",
                        kIndex +
                            "  if (i < n) {\n    int at = 0;\n    float s = 0;\n"
                            "    for (int j = 0; j < 5; ++j) {\n      s += x[at];\n      " +
                            step + "\n      at += 3;\n    }\n    y[i] = s;\n  }\n")
                    .empty());
  }
  // a step behind a label of a switch, which has no block
  stays(
      "    int k = i % 20;\n    y[i] = 0;\n    switch (i % 3)\n      case 0: y[i] = x[k++];\n"
      "    y[i] += k;\n");
  // the value of braces in parentheses is that of their last statement
  stays("    int k = i % 20;\n    y[i] = ({ int t = 1; x[k++] + t; });\n");
  // another variable has the name of the one that the loop moves on
  stays(
      "    float s = 0;\n    int k = i % 20;\n    for (int j = 0; j < 5; ++j) {\n"
      "      { int k = j; s += x[k]; }\n      s += x[k];\n      k += 3;\n    }\n"
      "    y[i] = s;\n");
}

TEST_CASE("a declaration whose type means another thing elsewhere stays where it is") {
  stays(
      "    using T = float;\n    T v;\n    {\n      using T = int;\n      v = x[i];\n"
      "      y[i] = v;\n    }\n");
  stays(
      "    struct S { float a; } *p;\n    S one = {x[i]};\n    {\n      p = &one;\n"
      "      y[i] = p->a;\n    }\n");
  stays(
      "    float v;\n    {\n      v = x[i];\n      y[i] = v;\n      float v = 2;\n"
      "      y[i] += v;\n    }\n");
  stays(
      "    const float* t[1] = {x + i};\n    const float* const* p;\n    p = t;\n"
      "    y[i] = **p;\n");
}

TEST_CASE("a return beside lines that are compiled in some builds alone stays") {
  CHECK_FALSE(refused("", kIndex + "  if (i >= n) return;\n  y[i] = 0;\n#ifdef SOME_BUILD\n"
                                   "  if (x[i] > 0) {\n    y[i] = 2;\n    return;\n  }\n#endif\n"
                                   "  y[i] = 1;\n")
                  .empty());
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
