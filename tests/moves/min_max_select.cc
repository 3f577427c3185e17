#include <doctest/doctest.h>

#include <string>

#include "tests/support/move_path.h"

using namespace warpath;
using test::MovePath;

TEST_SUITE_BEGIN("min_max_select");

TEST_CASE("a smallest or greatest float is kept by one instruction where it cannot be NaN") {
  const auto nearest = [](const std::string& before, const std::string& keeps) {
    return test::kernel_under_test(
        "extern \"C\" __global__ void nearest(float* out, const float* x) {\n  int i = blockIdx.x "
        "* "
        "64 + threadIdx.x;\n  float best = " +
            before +
            ";\n  for (int k = 0; k < 16; ++k) {\n    float d = fabsf(x[i] - x[k]);\n    " + keeps +
            "\n  }\n  out[i] = best;\n}\n",
        "nearest", {{"out", "output", "float32", "256"}, {"x", "input", "float32", "256"}}, "4",
        "64");
  };
  const auto made = [&](const std::string& before, const std::string& keeps) {
    MovePath path(nearest(before, keeps));
    path.step("min_max_select@thread").runs();
    return path.has("best = fminf(best, d);")   ? "least"
           : path.has("best = fmaxf(best, d);") ? "greatest"
                                                : "";
  };
  CHECK(made("1e30f", "if (d < best) best = d;") == "least");
  CHECK(made("INFINITY", "if (best >= d) {\n      best = d;\n    }") == "least");
  CHECK(made("-1.0f", "if (d > best) { best = d; }") == "greatest");
  CHECK(made("-FLT_MAX", "best = best < d ? d : best;") == "greatest");
  const auto refused = [&](const std::string& before, const std::string& keeps) {
    return MovePath(nearest(before, keeps)).listed("min_max_select").empty();
  };
  CHECK(refused("x[0]", "if (d < best) best = d;"));       // may be NaN, and stays so
  CHECK(refused("1e30f", "best = best < d ? best : d;"));  // takes a NaN
  CHECK(refused("1e30f", "if (!(d >= best)) best = d;"));  // likewise
  CHECK(refused("1e30f", "if (d < best) best = d; else best = 0.0f;"));
  CHECK(refused("1e30f", "if (d < best) { best = d; out[i] = d; }"));  // does more
  CHECK(refused("1e30f", "best += d; if (d < best) best = d;"));       // may become NaN
}

TEST_SUITE_END();
