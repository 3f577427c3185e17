#include <doctest/doctest.h>

#include <array>
#include <string>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

TEST_SUITE_BEGIN("float_doubles");

namespace {

KernelSpec kernel(const std::string& body) {
  return test::kernel_under_test(
      "extern \"C\" __global__ void near(float* y, const float* x, int n) {\n"
      "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n  " +
          body + "\n}\n",
      "near",
      {{"y", "output", "float32", "n"},
       {"x", "input", "float32", "n"},
       {"n", "scalar", "", "", 100}},
      "ceil_div(n, 64)", "64");
}

}  // namespace

TEST_CASE("doubles that hold values of floats alone are floats") {
  const std::string step = "normalise@kernel";
  const auto body = [](const std::string& start, const std::string& loop, const std::string& last) {
    return kernel("if (i < n) {\n  " + start + "\n  for (int k = 0; k < n; ++k) {\n    " + loop +
                  "\n  }\n  " + last + "\n}");
  };
  const std::string nearest =
      "float d = fabsf(x[k] - x[i]);\n    if (d < least) { second = least; least = d; } else if "
      "(second > d) second = d;";
  const std::string greatest = "float d = x[k] * x[i];\n    if (most < d) most = d;";
  MovePath found(body("double least = 0.5, second = 2.0;", nearest, "y[i] = second;"));
  found.step(step).runs();
  CHECK(found.has("float least = 0.5, second = 2.0;"));
  // what no float is stands for infinity where each comparison has the same result
  MovePath sentinel(body("double least = 1e40;",
                         "float d = x[k] - x[i];\n    if (d < least) least = d;", "y[i] = least;"));
  sentinel.step(step).runs();
  CHECK(sentinel.has("float least = INFINITY;"));
  // -infinity is not at least -1e300, but at least -infinity
  MovePath most(body("double most = -1e300;",
                     "float d = x[k] * x[i];\n    if (d >= most) most = d;", "y[i] = most;"));
  CHECK_FALSE(most.tried(step).empty());
  MovePath lowest(body("double most = -1e300;", greatest, "y[i] = (float)most;"));
  lowest.step(step).runs();
  CHECK(lowest.has("float most = -INFINITY;"));
  for (const auto& [start, loop, last] :
       {// two that hold the literal would be compared, or two literals be one
        std::array<std::string, 3>{"double least = 1e40, second = 1e40;",
                                   "if (x[k] < least) least = x[k];",
                                   "y[i] = least < second ? 1.0f : 0.0f;"},
        {"double least = 1e40;", "if (x[k] < least) least = x[k]; else if (k == 3) least = 1e41;",
         "y[i] = least;"},
        // an order that tells infinity from the literal
        {"double least = 1e40;", "if (x[k] <= least) least = x[k];", "y[i] = least;"},
        // above the largest float, which is its nearest all the same
        {"double least = 3.4028235e38;", "if (x[k] < least) least = x[k];", "y[i] = least;"},
        {"double most = -3.4028235e38;", "if (most < x[k]) most = x[k];", "y[i] = most;"},
        // beside a value that a float does not hold
        {"double least = 0.5; long long big = n;", "if (x[k] < least) least = x[k];",
         "y[i] = n > 3 ? least : big;"},
        // a value that is no float's, arithmetic, another double, an integer
        {"double least = 0.1;", "if (x[k] < least) least = x[k];", "y[i] = least;"},
        {"double least = 0.5;", "if (x[k] < least) least = x[k];", "y[i] = least * 3;"},
        {"double least = 0.5, other = x[i] * 0.1;", "if (least < other) least = x[k];",
         "y[i] = least;"},
        {"double least = 0.5;", "if (x[k] < least) least = k;", "y[i] = least;"},
        {"double least = 0.5;", "least += x[k];", "y[i] = least;"},
        {"double least = 0.5; double* p = &least;", "if (x[k] < *p) *p = x[k] * 0.1;",
         "y[i] = least;"}}) {
    CAPTURE(start + loop + last);
    CHECK_FALSE(MovePath(body(start, loop, last)).tried(step).empty());
  }
}

TEST_SUITE_END();
