#pragma once

#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

/// A kernel that sums, for tests of variants of several launches, with and without a device.
namespace warpath::test {

/// One sum of n numbers; the spec's kernel has one thread.
inline KernelSpec summing() {
  KernelSpec spec;
  spec.name = "summing";
  spec.origin = "summing.json";
  spec.source =
      "extern \"C\" __global__ void total(const float* x, float* y, int n) {\n"
      "  float sum = 0.0f;\n"
      "  for (int i = 0; i < n; ++i) sum += x[i];\n"
      "  y[0] = sum;\n"
      "}\n";
  spec.kernel_name = "total";
  ArgSpec x, y, n;
  x.name = "x";
  x.tensor.emplace().shape = {Expression::parse("n", "test")};
  x.tensor->content = InitRule{};
  y.name = "y";
  y.role = ArgRole::output;
  y.tensor.emplace().shape = {Expression(1)};
  n.name = "n";
  n.type = ArgType::integer;
  n.role = ArgRole::scalar;
  n.value = std::int64_t{1003};
  spec.io.args = {x, y, n};
  spec.tolerance[""] = {.atol = 1e-3, .rtol = 1e-4, .norm = 1e-4};
  spec.workloads.emplace_back().name = "default";
  return spec;
}

/// Blocks add to partial sums in scratch memory, a second kernel adds them up.
inline Variant two_pass() {
  Variant out = baseline_variant(summing());
  out.source =
      "extern \"C\" __global__ void total(const float* x, float* y, int n, float* partial) {\n"
      "  int i = blockIdx.x * 64 + threadIdx.x;\n"
      "  if (i < n) atomicAdd(&partial[blockIdx.x], x[i]);\n"
      "}\n"
      "extern \"C\" __global__ void add_partials(const float* partial, float* y, int n) {\n"
      "  float sum = 0.0f;\n"
      "  for (int b = 0; b * 64 < n; ++b) sum += partial[b];\n"
      "  y[0] = sum;\n"
      "}\n";
  out.launch.grid[0] = Expression::parse("ceil_div(n, 64)", "test");
  out.launch.block[0] = Expression(64);
  out.scratch = {
      {.name = "partial", .size_bytes = Expression::parse("4 * ceil_div(n, 64)", "test")}};
  out.before = {
      {.kind = LaunchStep::Kind::zero, .kernel_name = "", .launch = {}, .arguments = {"partial"}}};
  out.after = {{.kind = LaunchStep::Kind::kernel,
                .kernel_name = "add_partials",
                .launch = {},
                .arguments = {"partial", "y", "n"}}};
  return out;
}

}  // namespace warpath::test
