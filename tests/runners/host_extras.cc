#include <doctest/doctest.h>

#include <string>

#include "engine/base/registry.h"
#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "register_runners.h"
#include "runners/host/options.h"
#include "tests/support/summing_spec.h"

using namespace warpath;
using test::summing;

namespace {

/// Blocks write partial sums to scratch memory, a second kernel adds them up.
Variant two_pass() {
  Variant out = baseline_variant(summing());
  out.source =
      "extern \"C\" __global__ void total(const float* x, float* y, int n, float* partial) {\n"
      "  int i = blockIdx.x * 64 + threadIdx.x;\n"
      "  if (i < n) atomicAdd(&partial[blockIdx.x], x[i]);\n"
      "}\n"
      "extern \"C\" __global__ void add_partials(const float* partial, float* y, int blocks) {\n"
      "  __shared__ float sum[32];\n"
      "  float own = 0.0f;\n"
      "  for (int b = threadIdx.x; b * 64 < blocks; b += 32) own += partial[b];\n"
      "  sum[threadIdx.x] = own;\n"
      "  __syncthreads();\n"
      "  if (threadIdx.x == 0) {\n"
      "    float all = 0.0f;\n"
      "    for (int t = 0; t < 32; ++t) all += sum[t];\n"
      "    y[0] = all;\n"
      "  }\n"
      "}\n";
  out.launch.grid[0] = Expression::parse("ceil_div(n, 64)", "test");
  out.launch.block[0] = Expression(64);
  out.scratch = {
      {.name = "partial", .size_bytes = Expression::parse("4 * ceil_div(n, 64)", "test")}};
  out.before = {
      {.kind = LaunchStep::Kind::zero, .kernel_name = "", .launch = {}, .arguments = {"partial"}}};
  LaunchStep last{.kind = LaunchStep::Kind::kernel,
                  .kernel_name = "add_partials",
                  .launch = {},
                  .arguments = {"partial", "y", "n"}};
  last.launch.block[0] = Expression(32);
  out.after = {last};
  return out;
}

class Bench {
 public:
  Bench() : spec_(summing()) {
    options_.of<HostOptions>().threads = 2;
    options_.of<HostOptions>().timing_seconds = 0.01;
    options_.of<HostOptions>().launch_seconds = 2;
    RunnerConfig config;
    config.options = &options_;
    runner_ = registered_runners().create("--runner", "host", config);
    runner_->prepare(spec_);
  }
  Outcome run(const Variant& variant) {
    return runner_->run(RunRequest{spec_, variant, Hash128{}, ++seed_, 0}, {});
  }

 private:
  Options options_;
  KernelSpec spec_;
  std::unique_ptr<Runner> runner_;
  std::uint64_t seed_ = 0;
};

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_SUITE_BEGIN("host_extras");

TEST_CASE(
    "a variant of two kernels, scratch memory and a zeroed buffer is verified and timed as one") {
  Bench bench;
  const Outcome outcome = bench.run(two_pass());
  CAPTURE(outcome.log);
  CHECK(outcome.status == Status::ok);
  REQUIRE_FALSE(outcome.timings.empty());
  CHECK_FALSE(outcome.timings.front().baseline_samples_ns.empty());
  CHECK(bench.run(baseline_variant(summing())).status == Status::ok);
}

TEST_CASE("scratch memory is not zero unless a step zeroes it") {
  Bench bench;
  Variant variant = two_pass();
  variant.before.clear();
  CHECK(bench.run(variant).status == Status::wrong_result);
}

TEST_CASE("a write behind a scratch buffer is seen") {
  Bench bench;
  Variant variant = two_pass();
  variant.scratch[0].size_bytes = Expression::parse("4 * ceil_div(n, 64) - 4", "test");
  variant.source = replaced(variant.source, "atomicAdd(&partial[blockIdx.x], x[i])",
                            "partial[blockIdx.x] = 1.0f");
  const Outcome outcome = bench.run(variant);
  CHECK(outcome.status == Status::rejected);
  CHECK(outcome.log.find("partial") != std::string::npos);
}

TEST_CASE(
    "a step that its kernel does not fit, or that is missing, is refused before anything runs") {
  Bench bench;
  Variant variant = two_pass();
  variant.after[0].arguments.pop_back();
  Outcome outcome = bench.run(variant);
  CHECK(outcome.status == Status::launch_error);
  CHECK(outcome.log.find("add_partials") != std::string::npos);
  variant = two_pass();
  variant.after[0].arguments = {"partial", "n", "y"};
  CHECK(bench.run(variant).status == Status::launch_error);
  variant = two_pass();
  variant.after[0].arguments = {"partial", "y", "nowhere"};
  CHECK(bench.run(variant).status == Status::launch_error);
  variant = two_pass();
  variant.source = replaced(variant.source, "void add_partials", "void add_others");
  CHECK(bench.run(variant).status == Status::compile_error);
  variant = two_pass();
  variant.scratch.clear();
  variant.before.clear();
  CHECK(bench.run(variant).status == Status::launch_error);
}

TEST_CASE("an output may be zeroed, an input may not") {
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
  variant.before[0].arguments = {"x"};
  CHECK(bench.run(variant).status == Status::launch_error);
}

TEST_CASE("an enumeration is the integer that the spec passes, and a file may add to long itself") {
  Bench bench;
  Variant variant = baseline_variant(summing());
  variant.source =
      "enum class Count : int {};\n"
      "__device__ void atomicAdd(long* at, long by) { *at += by; }\n"
      "extern \"C\" __global__ void total(const float* x, float* y, Count n) {\n"
      "  long count = 0;\n"
      "  float sum = 0.0f;\n"
      "  for (; count < static_cast<int>(n); atomicAdd(&count, 1)) sum += x[count];\n"
      "  y[0] = sum;\n"
      "}\n";
  const Outcome outcome = bench.run(variant);
  CAPTURE(outcome.log);
  CHECK(outcome.status == Status::ok);
  // without one of its own there is the host's
  variant.source =
      replaced(variant.source, "__device__ void atomicAdd(long* at, long by) { *at += by; }\n", "");
  CHECK(bench.run(variant).status == Status::ok);
}

TEST_SUITE_END();
