#pragma once

#include <doctest/doctest.h>

#include <string>

#include "tests/support/move_path.h"

namespace warpath::test {

/// y[n] = k_helped(x[n], n) on blocks of 64 threads, with the helpers before it.
inline KernelSpec helped_spec(const std::string& before,
                              const std::string& body,
                              const std::string& after = "") {
  const std::string source =
      before + "extern \"C\" __global__ void k_helped(float* y, const float* x, int n) {\n" + body +
      "}\n" + after;
  return test::kernel_under_test(source, "k_helped",
                                 {{"y", "output", "float32", "n"},
                                  {"x", "input", "float32", "n"},
                                  {"n", "scalar", "", "", 1000}},
                                 "(n + 63) / 64", "64");
}

inline const std::string kIndex = "  int i = blockIdx.x * blockDim.x + threadIdx.x;\n";

/// What becomes of a kernel; it gives the same results as before.
struct Normal {
  MovePath path;
  Normal(const std::string& before, const std::string& body, const std::string& after = "")
      : path(helped_spec(before, body, after)) {
    path.on_gpu();
    why = path.tried("normalise@kernel");
    if (why.empty()) path.runs();
  }
  [[nodiscard]] bool has(const std::string& text) const {
    return path.source().find(text) != std::string::npos;
  }
  std::string why;
};

/// The reason why a kernel stays as it is.
inline std::string refused(const std::string& before,
                           const std::string& body,
                           const std::string& after = "") {
  MovePath path(helped_spec(before, body, after));
  path.on_gpu();
  const std::string why = path.tried("normalise@kernel");
  CAPTURE(path.source());
  CHECK_FALSE(why.empty());
  CHECK(path.listed("normalise").empty());
  return why;
}

}  // namespace warpath::test
