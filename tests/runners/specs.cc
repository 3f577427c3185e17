#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec_check_files.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"
#include "register_runners.h"
#include "runners/host/options.h"
#include "runners/reference/reference.h"

using namespace warpath;

namespace {

const std::vector<KernelSpec>& specs() {
  static const std::vector<KernelSpec> loaded = load_specs(WARPATH_SOURCE_ROOT "/specs");
  return loaded;
}

/// The host runner with short timings.
std::unique_ptr<Runner> host_runner() {
  static Options options;  // outlives the runner
  options.of<HostOptions>().timing_seconds = 0.01;
  options.of<HostOptions>().min_samples = 2;
  options.of<HostOptions>().max_samples = 4;
  RunnerConfig config;
  config.options = &options;
  return registered_runners().create("--runner", "host", config);
}

bool has_workload(const KernelSpec& spec, WorkloadTarget target) {
  return std::any_of(spec.workloads.begin(), spec.workloads.end(),
                     [&](const Workload& workload) { return workload.target == target; });
}

}  // namespace

TEST_SUITE_BEGIN("specs");

TEST_CASE("every development kernel is a spec that can be searched, on a GPU and on the host") {
  CHECK(specs().size() >= 12);
  for (const KernelSpec& spec : specs()) {
    CAPTURE(spec.name);
    CHECK(run_problem(spec) == "");
    CHECK(has_workload(spec, WorkloadTarget::gpu));
    CHECK(has_workload(spec, WorkloadTarget::host));
    CHECK(!spec.tunables.empty());
    CHECK(spec.bound.bytes.has_value());
    CHECK(!spec.bound.flops.empty());
    CHECK(!spec.description.empty());
  }
}

TEST_CASE("at least four references are host operations and at least four are kernels") {
  int host_ops = 0, kernels = 0;
  for (const KernelSpec& spec : specs()) {
    CAPTURE(spec.name);
    if (const auto* kernel = std::get_if<ReferenceKernel>(&spec.reference)) {
      ++kernels;
      CHECK(kernel->kernel_name != spec.kernel_name);
    } else {
      ++host_ops;
      CHECK(make_reference(spec, {}) != nullptr);
    }
  }
  CHECK(host_ops >= 4);
  CHECK(kernels >= 4);
}

TEST_CASE("host workloads leave a tail: no grid covers its sizes exactly") {
  for (const KernelSpec& spec : specs()) {
    CAPTURE(spec.name);
    TunableValues defaults;
    for (const Tunable& tunable : spec.tunables) defaults[tunable.name] = tunable.default_value;
    for (const Workload& workload : spec.workloads) {
      if (workload.target != WorkloadTarget::host) continue;
      const LaunchNumbers launch =
          evaluate(spec.launch_of(workload), spec.bindings(workload, defaults), spec.origin);
      const ArgSpec& output =
          *std::find_if(spec.io.args.begin(), spec.io.args.end(), [](const ArgSpec& arg) {
            return arg.role == ArgRole::output || arg.role == ArgRole::inout;
          });
      std::int64_t outputs = 1, threads = 1;
      for (const std::int64_t extent : spec.shape_of(output, workload)) outputs *= extent;
      for (std::size_t axis = 0; axis < 3; ++axis)
        threads *= launch.grid[axis] * launch.block[axis];
      CHECK(threads != outputs);
    }
  }
}

TEST_CASE("every baseline equals its reference on the host runner") {
  const auto runner = host_runner();
  for (const KernelSpec& spec : specs()) {
    CAPTURE(spec.name);
    runner->prepare(spec);
    const Variant baseline = baseline_variant(spec);
    const Outcome outcome = runner->run(
        {.spec = spec, .variant = baseline, .key = variant_key(baseline), .seed = 17}, {});
    CAPTURE(outcome.log);
    CAPTURE(outcome.verdict.summary());
    CHECK(name(outcome.status) == "ok");
    CHECK(outcome.verdict.passed());
  }
}

TEST_SUITE_END();
