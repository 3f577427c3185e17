#include "tests/runners/host_candidates.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "engine/base/registry.h"
#include "register_runners.h"
#include "runners/host/options.h"

namespace warpath::test {

std::unique_ptr<Runner> make_host_runner(HostOptions host) {
  static Options options;  // outlives every runner
  if (host.threads == 0) host.threads = 2;
  host.timing_seconds = 0.01;
  host.max_samples = std::max(host.max_samples, host.min_samples);
  options.of<HostOptions>() = host;
  RunnerConfig config;
  config.options = &options;
  return registered_runners().create("--runner", "host", config);
}

HostOptions quick() {
  HostOptions options;
  options.launch_seconds = 1.5;
  options.compile_seconds = 20;
  return options;
}

ArgSpec tensor(const std::string& name, ArgRole role, DType dtype, const char* extent) {
  ArgSpec arg;
  arg.name = name;
  arg.role = role;
  arg.tensor.emplace();
  arg.tensor->shape = {Expression::parse(extent, "test")};
  arg.tensor->dtype = dtype;
  InitRule init;
  if (dtype == DType::i32)
    init.kind = InitRule::Kind::randint, init.low = Expression(0), init.high = Expression(1000);
  if (role != ArgRole::output) arg.tensor->content = init;
  return arg;
}

KernelSpec doubling(DType dtype) {
  const std::string type(info(dtype).cuda_type);
  KernelSpec spec;
  spec.name = "doubling";
  spec.origin = "doubling.json";
  spec.source =
      "extern \"C\" __global__ void k(const " + type + "* x, " + type +
      "* y, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) y[i] = 2 * x[i]; }";
  spec.kernel_name = "k";
  spec.io.args = {tensor("x", ArgRole::input, dtype), tensor("y", ArgRole::output, dtype)};
  ArgSpec n;
  n.name = "n";
  n.type = ArgType::integer;
  n.role = ArgRole::scalar;
  n.value = std::int64_t{64};
  spec.io.args.push_back(n);
  spec.io.launch.grid[0] = Expression::parse("ceil_div(n, 64)", "test");
  spec.io.launch.block[0] = Expression(64);
  ReferenceKernel reference;
  reference.source = "__global__ void twice(const " + type + "* x, " + type +
                     "* y, int n) { for (int i = 0; i < n; ++i) y[i] = x[i] + x[i]; }";
  reference.kernel_name = "twice";
  spec.reference = reference;
  Workload workload;
  workload.name = "host";
  workload.scalars["n"] = std::int64_t{64};
  spec.workloads = {workload};
  return spec;
}

std::string body(const std::string& statements) {
  return "extern \"C\" __global__ void k(const float* x, float* y, int n) { int i = blockIdx.x * "
         "blockDim.x + threadIdx.x; " +
         statements + " }";
}

std::string failed_gate(const Outcome& outcome) {
  for (const auto& gate : outcome.verdict.gates) {
    if (gate.answer == GateResult::Answer::fail) return gate.gate;
  }
  return {};
}

void check_each(Candidates& candidates, const std::vector<Expected>& rows) {
  for (const auto& row : rows) {
    const std::string text = row.text;
    CAPTURE(text);
    const Outcome outcome = candidates.run(row.text);
    CAPTURE(outcome.log);
    CHECK(name(outcome.status) == name(row.status));
    CHECK(failed_gate(outcome) == row.gate);
    CHECK(outcome.log.find(row.log) != std::string::npos);
    CHECK(outcome.timings.empty());
  }
  CHECK(candidates.sound());
}

}  // namespace warpath::test
