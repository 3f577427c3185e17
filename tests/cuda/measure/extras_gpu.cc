#include <doctest/doctest.h>

#include <cstdlib>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "register_runners.h"
#include "runners/cuda/options.h"
#include "tests/support/summing_spec.h"

using namespace warpath;
using test::summing;
using test::two_pass;

namespace {

/// The runner as the program has it; its workers are the program.
class Bench {
 public:
  Bench() : spec_(summing()) {
    options_.of<CudaOptions>().cache_mib = 0;
    RunnerConfig config;
    config.options = &options_;
    config.program = std::getenv("WARPATH_PROGRAM");
    runner_ = registered_runners().create("--runner", "cuda", config);
    runner_->prepare(spec_);
    REQUIRE(run(baseline_variant(spec_)).status == Status::ok);
  }
  Outcome run(const Variant& variant, Stage stage = Stage::screening) {
    return runner_->run({.spec = spec_,
                         .variant = variant,
                         .key = variant_key(variant),
                         .seed = ++seed_,
                         .incumbent_ns = 0,
                         .stage = stage},
                        {});
  }

 private:
  Options options_;
  KernelSpec spec_;
  std::unique_ptr<Runner> runner_;
  std::uint64_t seed_ = 0;
};

}  // namespace

TEST_SUITE_BEGIN("gpu_extras");

TEST_CASE(
    "a variant of two kernels, scratch memory and a zeroed buffer passes every gate of a "
    "confirmation and is timed") {
  Bench bench;
  const Outcome outcome = bench.run(two_pass(), Stage::confirmation);
  CAPTURE(outcome.log);
  CHECK(outcome.status == Status::ok);
  CHECK_FALSE(outcome.timings.empty());
}

TEST_CASE("scratch memory is noise unless a step zeroes it, and writes behind it are seen") {
  Bench bench;
  Variant variant = two_pass();
  variant.before.clear();
  CHECK(bench.run(variant).status == Status::wrong_result);
  variant = two_pass();
  variant.source.replace(variant.source.find("atomicAdd(&partial[blockIdx.x], x[i])"), 37,
                         "partial[blockIdx.x + 64] = x[i]");
  const Outcome outcome = bench.run(variant);
  CHECK(outcome.status != Status::ok);
  CHECK(bench.run(two_pass()).status == Status::ok);
}

TEST_CASE("an output may be zeroed before atomics add to it") {
  Bench bench;
  Variant variant = baseline_variant(summing());
  variant.source =
      "extern \"C\" __global__ void total(const float* x, float* y, int n) {\n"
      "  int i = blockIdx.x * 64 + threadIdx.x;\n"
      "  if (i < n) atomicAdd(y, x[i]);\n"
      "}\n";
  variant.launch.grid[0] = Expression::parse("ceil_div(n, 64)", "test");
  variant.launch.block[0] = Expression(64);
  CHECK(bench.run(variant).status == Status::wrong_result);
  variant.before = {
      {.kind = LaunchStep::Kind::zero, .kernel_name = "", .launch = {}, .arguments = {"y"}}};
  const Outcome outcome = bench.run(variant);
  CAPTURE(outcome.log);
  CHECK(outcome.status == Status::ok);
}

TEST_CASE("a kernel of many milliseconds is judged by fewer launches, on every input set") {
  Bench bench;
  const auto slow = [](const std::string& result) {
    Variant variant = baseline_variant(summing());
    variant.source =
        "extern \"C\" __global__ void total(const float* x, float* y, int n) {\n"
        "  float sum = 0.0f;\n"
        "  for (int i = 0; i < n; ++i) sum += x[i];\n"
        "  float chain = x[0];\n"
        "  for (int k = 0; k < 8000000; ++k) chain = chain * 0.999f + 1e-6f;\n"
        "  y[0] = chain > 1e30f ? 0.0f : " +
        result +
        ";\n"
        "}\n";
    return variant;
  };
  for (int again = 0; again < 3; ++again) {
    const Outcome outcome = bench.run(slow("sum"));
    CAPTURE(outcome.log);
    CHECK(outcome.status == Status::ok);
    REQUIRE_FALSE(outcome.timings.empty());
    CHECK(outcome.timings.front().samples_ns.front() > 10e6);
  }
  CHECK(bench.run(slow("0.5f * sum")).status == Status::wrong_result);
  CHECK(bench.run(slow("sum"), Stage::confirmation).status == Status::ok);
}

TEST_SUITE_END();
