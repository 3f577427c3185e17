#pragma once

#include <cstdint>

#include "engine/spec/spec.h"

namespace warpath::testing {

/// y = 2 x + 1 in two loops, which every thread runs.
inline KernelSpec twice_spec() {
  KernelSpec out;
  out.name = "twice";
  ArgSpec y, x, n;
  y.name = "y";
  y.role = ArgRole::output;
  y.tensor.emplace().shape = {Expression::parse("n", "test")};
  x.name = "x";
  x.tensor.emplace().shape = {Expression::parse("n", "test")};
  n.name = "n";
  n.type = ArgType::integer;
  n.role = ArgRole::scalar;
  n.value = std::int64_t{1000};
  out.io.args = {y, x, n};
  out.source =
      "__global__ void twice(float* y, const float* x, int n) {\n"
      "  for (int i = 0; i < n; ++i) y[i] = 2.0f * x[i];\n"
      "  for (int i = 0; i < n; ++i) y[i] += 1.0f;\n"
      "}\n";
  out.kernel_name = "twice";
  out.io.launch.block[0] = Expression{64};
  out.workloads.emplace_back().name = "default";
  return out;
}

}  // namespace warpath::testing
