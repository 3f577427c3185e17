#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "engine/plugin/options.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec_load.h"
#include "experiments/setup/candidates.h"
#include "register_runners.h"
#include "runners/cuda/options.h"
#include "tests/support/figure.h"

using namespace warpath;
namespace fs = std::filesystem;

namespace {

/// The runner as the program has it, with the gate `delays` behind those that every launch needs
/// and no other.
class Bench {
 public:
  explicit Bench(const std::string& family) {
    const fs::path folder = fs::path(WARPATH_SOURCE_ROOT) / "tests" / "data" / "integrity" / family;
    spec_ = load_specs((folder / "spec.json").string()).front();
    candidates_ = read_candidates(spec_, {(folder / "list.jsonl").string()});
    options_.of<CudaOptions>().cache_mib = 0;
    options_.of<CudaOptions>().screening =
        "text,code,isolation,launch_contract,output_poison,reference";
    options_.of<CudaOptions>().confirmation = "delays";
    options_.of<CudaOptions>().final = "";
    RunnerConfig config;
    config.options = &options_;
    config.program = std::getenv("WARPATH_PROGRAM");
    runner_ = registered_runners().create("--runner", "cuda", config);
    runner_->prepare(spec_);
  }
  [[nodiscard]] Outcome run(const Variant& variant) {
    return runner_->run({.spec = spec_,
                         .variant = variant,
                         .key = variant_key(variant),
                         .seed = ++seed_,
                         .incumbent_ns = 0,
                         .stage = Stage::confirmation},
                        {});
  }
  [[nodiscard]] const std::vector<Candidate>& candidates() const { return candidates_; }

 private:
  Options options_;
  KernelSpec spec_;
  std::vector<Candidate> candidates_;
  std::unique_ptr<Runner> runner_;
  std::uint64_t seed_ = 0;
};

/// Whether the gate was asked, and what it said.
std::string answer_of(const Outcome& outcome) {
  const auto found = std::ranges::find(outcome.verdict.gates, "delays", &GateResult::gate);
  if (found == outcome.verdict.gates.end()) return "no answer";
  return (found->answer == GateResult::Answer::pass   ? "pass: "
          : found->answer == GateResult::Answer::fail ? "fail: "
                                                      : "not run: ") +
         found->detail;
}

}  // namespace

TEST_SUITE_BEGIN("gpu_delays");

TEST_CASE(
    "kernels whose results hang on an order that nothing keeps are refused, and what they should "
    "have been passes") {
  std::size_t refused = 0, passed = 0;
  for (const char* const family : {"rowsum", "scan", "prefix", "softmax", "histogram", "axpy"}) {
    Bench bench(family);
    for (const Candidate& candidate : bench.candidates()) {
      const bool honest = candidate.expectation.status == "ok";
      if (!honest && !is_expected_gate(candidate.expectation, "delays")) continue;
      CAPTURE(family);
      CAPTURE(candidate.name);
      const Outcome outcome = bench.run(candidate.variant);
      const std::string answer = answer_of(outcome);
      CAPTURE(outcome.log);
      CAPTURE(answer);
      if (honest) {
        CHECK(outcome.status == Status::ok);
        CHECK(answer.starts_with("pass"));
        ++passed;
      } else {
        CHECK(outcome.status != Status::ok);
        ++refused;
      }
    }
  }
  testing::report_figure("delays_refused", refused);
  testing::report_figure("delays_honest", passed);
}

TEST_SUITE_END();
