#pragma once

#include <deque>
#include <filesystem>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/run/session.h"
#include "engine/run/session_result.h"
#include "engine/spec/spec.h"
#include "moves/propose/rule_proposer.h"
#include "register_moves.h"
#include "register_priors.h"
#include "register_runners.h"
#include "runners/pool.h"
#include "runners/synthetic/options.h"
#include "tests/support/search_options.h"

namespace warpath::test {

/// A spec whose kernel is never run: the synthetic runner substitutes it.
inline KernelSpec stand_in_spec() {
  KernelSpec spec;
  spec.name = "stand_in";
  spec.origin = "test";
  Workload workload;
  workload.name = "default";
  spec.workloads = {workload};
  return spec;
}

/// The same with a kernel that stores to its only tensor.
inline KernelSpec storing_spec() {
  KernelSpec spec = stand_in_spec();
  spec.kernel_name = "k";
  spec.source = "extern \"C\" __global__ void k(float* y) { y[0] = 0; }\n";
  ArgSpec y;
  y.name = "y";
  y.role = ArgRole::output;
  y.tensor = TensorSpec{};
  y.tensor->shape = {Expression(1)};
  spec.io.args = {std::move(y)};
  return spec;
}

/// Quick to record, deterministic, small enough to exhaust.
inline Options small_options(std::int64_t builds, bool deterministic = true) {
  Options options = search_options();
  options.run.budget_builds = builds;
  options.run.seed = 7;
  options.search.strategy = "history";  // the default where there are moves
  options.search.deterministic = deterministic;
  options.search.window = 4;
  options.record.sync = "never";
  options.record.keep_variants = false;
  options.of<SyntheticOptions>().knobs = 3;
  options.of<SyntheticOptions>().levels = 3;
  options.of<SyntheticOptions>().failure = 0.2;
  options.of<SyntheticOptions>().lanes = 2;
  return options;
}

/// Everything a session over the synthetic runner needs, in one place; run() may be called again
/// and again.
struct CampaignBench {
  explicit CampaignBench(Options o, std::string text = "synthetic")
      : options(std::move(o)), runner_text(std::move(text)) {}

  SessionResult run(const std::filesystem::path& folder,
                    bool resume = false,
                    std::stop_token stop = {},
                    std::stop_token abandon = {}) {
    const auto colon = runner_text.find(':');
    const RunnerConfig config{
        .argument = colon == std::string::npos ? "" : runner_text.substr(colon + 1),
        .seed = options.run.seed,
        .options = &options,
        .program = ""};
    const auto runner = runners.create("--runner", runner_text.substr(0, colon), config);
    RuleProposer rules(moves);
    const auto prior = priors.create("run.prior", options.run.prior, {.options = &options});
    std::vector<Proposer*> proposers{&rules};
    proposers.insert(proposers.begin(), extra_proposers.begin(), extra_proposers.end());
    const SessionSetup setup{.spec = spec,
                             .options = options,
                             .runner_text = runner_text,
                             .runner = *runner,
                             .make_evaluator = make_evaluator,
                             .moves = moves,
                             .proposers = proposers,
                             .prior = *prior,
                             .late = late,
                             .only_late = only_late,
                             .folder = folder,
                             .resume = resume,
                             .environment_json = "{\"revision\":\"test\"}",
                             .observer = observer,
                             .findings = findings};
    return run_session(setup, std::move(stop), std::move(abandon));
  }

  Options options;
  std::string runner_text;
  KernelSpec spec = stand_in_spec();
  MoveRegistry moves = registered_moves();
  PriorRegistry priors = registered_priors();
  RunnerRegistry runners = registered_runners();
  std::vector<Proposer*> extra_proposers;
  std::vector<LateProposer*> late;
  bool only_late = false;
  EvaluatorFactory make_evaluator = runner_pool;
  SessionObserver* observer = nullptr;
  OutcomeReader findings;
};

}  // namespace warpath::test
