#include <doctest/doctest.h>

#include <string>

#include "engine/base/registry.h"
#include "engine/plugin/objective.h"
#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "engine/plugin/versions.h"
#include "register_runners.h"
#include "runners/host/options.h"

using namespace warpath;

namespace {

std::string doubling(const std::string& count, const std::string& factor = "2.0f") {
  return "extern \"C\" __global__ void twice(const float* x, float* y, int n) {\n"
         "  int i = blockIdx.x * 64 + threadIdx.x;\n"
         "  if (i < " +
         count + ") y[i] = " + factor + " * x[i];\n}\n";
}

/// y = 2 x, of 1003 and of 4096 elements; checked with 77.
KernelSpec spec() {
  KernelSpec out;
  out.name = "twice";
  out.origin = "twice.json";
  out.source = doubling("n");
  out.kernel_name = "twice";
  ArgSpec x, y, n;
  x.name = "x";
  x.tensor.emplace().shape = {Expression::parse("n", "test")};
  x.tensor->content = InitRule{};
  y.name = "y";
  y.role = ArgRole::output;
  y.tensor.emplace().shape = {Expression::parse("n", "test")};
  n.name = "n";
  n.type = ArgType::integer;
  n.role = ArgRole::scalar;
  n.value = std::int64_t{1003};
  out.io.args = {x, y, n};
  out.io.launch.grid[0] = Expression::parse("ceil_div(n, 64)", "test");
  out.io.launch.block[0] = Expression(64);
  for (const std::int64_t size : {1003, 4096, 77}) {
    Workload& w = out.workloads.emplace_back();
    w.name = "of " + std::to_string(size);
    w.role = size == 77 ? WorkloadRole::regress : WorkloadRole::score;
    w.scalars["n"] = size;
  }
  return out;
}

Variant version(const std::string& source, Bindings when) {
  Variant out = baseline_variant(spec());
  out.source = source;
  out.when = std::move(when);
  return out;
}

/// A version for either scored size and a general kernel.
Variant versions(const std::string& first, const std::string& second, const std::string& general) {
  Variant out = version(first, {{"n", 1003}});
  out.versions = {version(second, {{"n", 4096}}), version(general, {})};
  return out;
}

class Bench {
 public:
  Bench() : spec_(spec()) {
    options_.of<HostOptions>().threads = 2;
    options_.of<HostOptions>().timing_seconds = 0.01;
    RunnerConfig config;
    config.options = &options_;
    runner_ = registered_runners().create("--runner", "host", config);
    runner_->prepare(spec_);
  }
  Outcome run(const Variant& variant, Stage stage = Stage::screening) {
    const RunRequest request{
        .spec = spec_, .variant = variant, .key = variant_key(variant), .seed = 5, .stage = stage};
    return runner_->run(request, {});
  }

 private:
  KernelSpec spec_;
  Options options_;
  std::unique_ptr<Runner> runner_;
};

}  // namespace

TEST_SUITE_BEGIN("host_versions");

TEST_CASE("every workload is checked and timed with the version that serves it") {
  Bench bench;
  const Outcome outcome = bench.run(versions(doubling("1003"), doubling("4096"), doubling("n")));
  INFO(outcome.log);
  REQUIRE(name(outcome.status) == "ok");
  REQUIRE(outcome.timings.size() == 2);
  CHECK(outcome.timings[0].workload == "of 1003");
  CHECK(outcome.timings[1].workload == "of 4096");
  CHECK(outcome.timings[1].launch.grid[0] == 64);
  CHECK(typical_ns(outcome, "of 4096") > 0);
}

TEST_CASE("a version that is wrong for its size is refused, at the workload of that size") {
  Bench bench;
  // Right for 1003, and so only where it is launched.
  const Outcome outcome = bench.run(versions(doubling("1003"), doubling("1003"), doubling("n")));
  CHECK(name(outcome.status) == "wrong_result");
  CHECK(outcome.log.find("of 4096") != std::string::npos);
}

TEST_CASE("a general kernel that is wrong is refused, though no scored workload runs it") {
  Bench bench;
  const Outcome outcome =
      bench.run(versions(doubling("1003"), doubling("4096"), doubling("n", "3.0f")));
  CHECK(name(outcome.status) == "wrong_result");
  CHECK(outcome.log.find("of 77") != std::string::npos);
}

TEST_CASE("a version that does not compile is refused") {
  Bench bench;
  const Outcome outcome =
      bench.run(versions(doubling("1003"), doubling("4096"), doubling("unknown")));
  CHECK(name(outcome.status) == "compile_error");
}

TEST_CASE("versions may differ in launch, scratch memory and steps") {
  Bench bench;
  Variant variant = versions(doubling("1003"), doubling("4096"), doubling("n"));
  Variant& second = variant.versions[0];
  second.source =
      "extern \"C\" __global__ void twice(const float* x, float* y, int n, float* copy) {\n"
      "  int i = blockIdx.x * 32 + threadIdx.x;\n  copy[i] = x[i];\n}\n"
      "extern \"C\" __global__ void finish(const float* copy, float* y) {\n"
      "  int i = blockIdx.x * 32 + threadIdx.x;\n  y[i] = 2.0f * copy[i];\n}\n";
  second.launch.grid[0] = Expression::parse("n / 32", "test");
  second.launch.block[0] = Expression(32);
  second.scratch = {{.name = "copy", .size_bytes = Expression::parse("4 * n", "test")}};
  LaunchStep step{.kind = LaunchStep::Kind::kernel,
                  .kernel_name = "finish",
                  .launch = second.launch,
                  .arguments = {"copy", "y"}};
  second.after = {step};
  const Outcome outcome = bench.run(variant, Stage::final);
  INFO(outcome.log);
  CHECK(name(outcome.status) == "ok");
}

TEST_SUITE_END();
