#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/objective.h"
#include "engine/plugin/runner.h"
#include "engine/run/session.h"
#include "engine/run/session_result.h"
#include "experiments/setup/candidates.h"

namespace warpath {

/// Confidence level of the intervals of times and speed-ups.
inline constexpr double kConfidence = 0.95;
inline constexpr int kDraws = 100;

/// What to evaluate. Referenced objects must outlive the call.
struct EvaluationPlan {
  const KernelSpec& spec;  ///< the runner's substitute if it has one
  const std::vector<Candidate>& candidates;
  int repeat = 1;  ///< evaluations of each, with different inputs
  Stage stage = Stage::screening;
  std::uint64_t seed = 1;  ///< root of the inputs' seeds
  double min_speedup = 0;  ///< minimum for guard workloads that set none
  /// replaces the baseline: candidates are timed alternately with it, and speed-ups are relative to
  /// it; null: the spec's
  const Variant* against = nullptr;
  /// candidates far behind the best so far get few samples: verdicts matter, not times
  bool race = false;
};

/// One finished evaluation, judged.
struct Evaluated {
  const Candidate* candidate = nullptr;  ///< null: the baseline
  int repetition = 0;                    ///< from 0
  std::uint64_t seed = 0;                ///< of its inputs
  Outcome outcome;
  double speedup = 0;           ///< 0 unless ok
  Interval speedup_interval{};  ///< 95 %, of samples within this evaluation
  double finished_s = 0;        ///< since the first submission
  [[nodiscard]] bool expected() const {
    return candidate == nullptr || as_expected(candidate->expectation, outcome.status);
  }
};

/// Totals over all evaluations.
struct EvaluationFigures {
  std::size_t planned = 0;
  std::size_t finished = 0;    ///< without the baseline
  std::size_t unexpected = 0;  ///< a status other than expected
  StatusCounts by_status{};
  double prepare_s = 0;  ///< reference outputs, devices, workers
  double baseline_s = 0;
  double candidates_s = 0;  ///< from the first submission to the last result
  bool interrupted = false;
  std::map<std::string, double> runner;  ///< Runner::figures() at the end
  [[nodiscard]] std::size_t verified() const {
    return by_status[static_cast<std::size_t>(Status::ok)];
  }
};

/// Prepares `runner`, measures the baseline, then evaluates every candidate through a pool, as many
/// at once as the runner has lanes. Calls `on_result` in order of completion, for the baseline
/// first, and `on_tick` about ten times a second. After `stop` nothing more is started; after
/// `abandon` nothing more is waited for. Throws Error(environment) with the reason if the baseline
/// is not ok, and what the runner throws.
[[nodiscard]] EvaluationFigures evaluate_candidates(
    const EvaluationPlan& plan,
    Runner& runner,
    const std::function<void(const Evaluated&)>& on_result,
    const std::function<void(const EvaluationFigures&)>& on_tick,
    const std::stop_token& stop,
    const std::stop_token& abandon);

/// Median over the samples, and its 95 % bootstrap interval, as a weighted geometric mean over the
/// workloads of role score. NaN unless ok.
struct TimeSummary {
  double median_ns = 0;
  Interval interval_ns;
  /// In ms: "6.1170 [6.1114, 6.1315]".
  [[nodiscard]] std::string text() const;
};
[[nodiscard]] TimeSummary time_summary(const KernelSpec& spec,
                                       const DeviceFacts& device,
                                       const Outcome& outcome);

}  // namespace warpath
