#include <doctest/doctest.h>

#include <string>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

namespace {

/// y[i] of the elements around x[i], of n in rows of w.
MovePath windows(const std::string& body) {
  return MovePath(test::kernel_under_test(
      "extern \"C\" __global__ void windows(float* y, const float* x, int n, int w, int r) {\n  "
      "int i = blockIdx.x * blockDim.x + threadIdx.x;\n  if (i < n) {\n    float sum = 0.0f;\n" +
          body + "    y[i] = sum;\n  }\n}\n",
      "windows",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n"},
       {"n", "scalar", "", "", 1003},
       {"w", "scalar", "", "", 17},
       {"r", "scalar", "", "", 2}},
      "ceil_div(n, 64)", "64", 1e-4));
}

const std::string kStep = "predicate_loop@loop:0";

}  // namespace

TEST_SUITE_BEGIN("predicated_loops");

TEST_CASE("a window that the edges cut becomes a loop of its whole length, with tests") {
  MovePath path = windows(
      "    int first = i - r, end = min(first + 5, n);\n    first = max(first, 0);\n    for (int j "
      "= "
      "first; j < end; ++j) {\n      if (x[j] < -2.0f) continue;\n      sum += x[j];\n    }\n");
  path.step(kStep).runs();
  CHECK(
      path.has("#pragma unroll\n    for (int k = 0; k < 5; ++k) {\n      int j = first + "
               "k;\n      if (j < end) {\n"));
}

TEST_CASE("loops inside it go with it, up to what may be unrolled") {
  const std::string square =
      "    int c = i % w, top = max(i / w - 1, 0), left = max(c - 1, 0);\n    for (int a = top; a "
      "< "
      "min(i / w + 2, n / w); a += 1)\n      for (int b = left; b <= min(c + 1, w - 1); b++) {\n   "
      " "
      "    sum += x[a * w + b];\n        if (sum > 9.0f) break;\n      }\n";
  MovePath path = windows(square);
  path.step(kStep).runs();
  CHECK(path.has("int a = top + k;"));
  CHECK(path.has("int b = left + k_2;"));
  CHECK(path.has("if (b <= min(c + 1, w - 1)) {"));
  CHECK(path.listed("predicate_loop").empty());
  MovePath wide = windows(
      "    for (int a = max(i - 8, 0); a < min(i + 9, n); ++a)\n      for (int b = max(a - 2, 0); "
      "b < "
      "min(a + 3, n); ++b) sum += x[b];\n");
  wide.step(kStep).runs();
  CHECK(wide.has("for (int b = max(a - 2, 0); b < min(a + 3, n); ++b)"));
}

TEST_CASE("steps above one, and any of several bounds") {
  MovePath path = windows(
      "    for (int j = max(i - 7, max(r, 0)); j < min(min(n, i + 8), i + 100); j += 4) sum += "
      "x[j];\n");
  path.step(kStep).runs();
  CHECK(path.has("for (int k = 0; k < 4; ++k) {"));
  CHECK(path.has("+ k * 4;"));
}

TEST_CASE("a loop without a most length, or whose bounds change, stays") {
  const auto why = [](const std::string& body) { return windows(body).tried(kStep); };
  CHECK(why("    for (int j = 0; j < 5; ++j) sum += x[j];\n") == "the loop's length is known");
  CHECK(why("    for (int j = max(i - 2, 0); j < n; ++j) sum += x[j];\n") ==
        "the loop has no length that it never exceeds");
  CHECK(why("    for (int j = max(i - 2, 0); j < max(i + 3, r); ++j) sum += x[j % n];\n") ==
        "the loop has no length that it never exceeds");
  CHECK(why("    for (int j = max(i - 20, 0); j < min(i + 21, n); ++j) sum += x[j];\n") ==
        "the loop may be too long to unroll");
  CHECK(why("    for (int j = max(i - 2, 0); j != min(i + 3, n); ++j) sum += x[j];\n") ==
        "the loop's condition is no plain bound");
  CHECK_FALSE(why("    int end = min(i + 3, n);\n    for (int j = max(i - 2, 0); j < end; ++j) {\n "
                  "     sum += x[j];\n      if (sum > 2.0f) end = min(end, i + 1);\n    }\n")
                  .empty());
  CHECK_FALSE(why("    int first = max(i - 2, 0);\n    for (int j = first; j < min(i + 3, n); ++j) "
                  "{\n      sum += x[j];\n      first = 0;\n    }\n    sum += first;\n")
                  .empty());
}

TEST_CASE("a head that does more than to count stays") {
  const auto stays = [](const std::string& body) {
    CHECK(windows(body).tried(kStep) == "the loop's head does more than to count");
  };
  stays(
      "    int q = 0;\n    for (int j = max(i - 2, 0); j < min(i + 3, n); ++j, ++q) sum += x[j] * "
      "q;\n    sum += q;\n");
  stays(
      "    const float* z = x + max(i - 2, 0);\n    for (int j = max(i - 2, 0); j < min(i + 3, n); "
      "++j, ++z) sum += *z;\n");
  stays(
      "    int e = 0;\n    for (int j = max(i - 2, 0), e = min(i + 3, n); j < e; ++j) sum += "
      "x[j];\n    sum += e;\n");
  stays("    for (int j = max(i - 2, 0), q = 0; j < min(i + 3, n); ++j) sum += x[j] * q++;\n");
  MovePath inner = windows(
      "    for (int j = max(i - 2, 0); j < min(i + 3, n); ++j)\n      for (int q = 0, e = 3; q < "
      "min(e, i); ++q, sum += 1) sum += x[j] * q;\n");
  inner.step(kStep).runs();
  CHECK(inner.has("for (int q = 0, e = 3; q < min(e, i); ++q, sum += 1)"));
}

TEST_CASE("bounds that may wrap around below zero stay") {
  const auto stays = [](const std::string& body) {
    CHECK(windows("    unsigned u = i, m = n;\n" + body).tried(kStep) ==
          "the loop's bounds may wrap around");
  };
  stays("    for (unsigned j = u - 2; j < min(u + 3, m); ++j) sum += x[j];\n");
  stays("    for (int j = i - 2; j < min(i + 3u, m); ++j) sum += x[j];\n");
  stays("    for (long j = u - 1; j < min(u + 2, m); ++j) sum += x[j];\n");
  stays(
      "    int first = max(u - 2, 0u);\n    for (int j = first; j < min(i + 3, n); ++j) sum += "
      "max(j, 0);\n");
  stays(
      "    int first = 0;\n    first += (u - 2) / 4;\n    for (int j = max(first, 0); j < "
      "min((i - 2) / 4 + 3, n); ++j) sum += j;\n");
  MovePath same = windows(
      "    unsigned u = i;\n    int first = u - 2;\n    for (int j = max(first, 0); j < min(i + 3, "
      "n); ++j) sum += x[j];\n");
  same.step(kStep).runs();
}

TEST_CASE("bounds that change under another name stay") {
  const auto stays = [](const std::string& body) {
    CHECK_FALSE(windows(body).tried(kStep).empty());
  };
  stays(
      "    int2 two[1] = {{0, 0}};\n    int2* q = two;\n    for (int j = max(i - 2, q->x); j < "
      "min(i + 3, n); ++j) {\n      sum += x[j];\n      q->x = 0;\n    }\n");
  stays(
      "    int lo = max(i - 2, 0);\n    int& other = lo;\n    for (int j = max(i - 2, lo); j < "
      "min(i + 3, n); ++j) {\n      sum += x[j];\n      other = i + 1;\n    }\n    sum += lo;\n");
  stays(
      "    int q = 0;\n    const int& lo = q;\n    for (int j = max(i - 2, lo); j < min(i + 3, n); "
      "++j) {\n      sum += x[j];\n      q = i;\n    }\n    sum += q;\n");
  stays(
      "    int lo = 0;\n    auto raise = [&] { lo = i; };\n    for (int j = max(i - 2, lo); j < "
      "min(i + 3, n); ++j) {\n      sum += x[j];\n      raise();\n    }\n");
}

TEST_CASE("a variable of the index's own type can be changed") {
  MovePath path = windows(
      "    for (int j = max(i - 2, 0); j < min(i + 3, n); ++j) {\n      decltype(j) z = j;\n      "
      "z += 1;\n      sum += x[j] * z;\n    }\n");
  path.step(kStep).runs();
}

TEST_SUITE_END();
