#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"
#include "register_runners.h"
#include "runners/host/options.h"

using namespace warpath;

namespace {

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

}  // namespace

TEST_SUITE_BEGIN("bottlenecks");

TEST_CASE(
    "slow on purpose, right all the same: every kernel without inline PTX equals its reference on "
    "the host runner") {
  const auto runner = host_runner();
  for (const KernelSpec& spec : load_specs(WARPATH_SOURCE_ROOT "/tests/data/bottlenecks")) {
    CAPTURE(spec.name);
    const Variant baseline = baseline_variant(spec);
    const bool on_host = std::ranges::any_of(spec.workloads, [](const Workload& workload) {
      return workload.target == WorkloadTarget::host;
    });
    CHECK(on_host == (baseline.source.find("asm ") == std::string::npos));
    if (!on_host) continue;
    runner->prepare(spec);
    const Outcome outcome = runner->run(
        {.spec = spec, .variant = baseline, .key = variant_key(baseline), .seed = 17}, {});
    CAPTURE(outcome.log);
    CAPTURE(outcome.verdict.summary());
    CHECK(name(outcome.status) == "ok");
    CHECK(outcome.verdict.passed());
  }
}

TEST_SUITE_END();
