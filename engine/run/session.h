#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/base/statistics.h"
#include "engine/plugin/evaluator.h"
#include "engine/plugin/late_proposer.h"
#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/outcome_reader.h"
#include "engine/plugin/prior.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

/// Number of outcomes by status, in enumerator order, without the baseline.
using StatusCounts = std::array<std::uint64_t, kStatusNames.size()>;

/// A finalist that is not reported.
struct Dismissal {
  Hash128 key;
  std::string move;                  ///< that created it
  Status status = Status::rejected;  ///< not ok
  std::string gate;                  ///< that refused it; empty: none
  std::string detail;                ///< by how much, or why it could not be measured
  double searched_speedup = 0;
};

/// Result of a campaign over one spec. The contents of best_summary.json.
struct SessionResult {
  std::string name;          ///< of the spec
  std::string runner;        ///< "host", "synthetic:rugged", ...
  std::string device;        ///< DeviceFacts::name
  bool baseline_ok = false;  ///< false: nothing was searched, `stop_reason` says why
  // If finalists were timed again, the next six and `verdict` are theirs, otherwise the search's.
  double baseline_ms = 0;  ///< objective time of the baseline; 0 unless baseline_ok
  double best_ms = 0;      ///< baseline_ms / speedup
  /// of the best variant, by the spec's objective; 1 for the baseline itself
  double speedup = 1;
  /// 99 %, from the pairs that timed the best; absent for the baseline and without pairs
  std::optional<Interval> speedup_interval;
  bool improved = false;        ///< speedup >= 1 + run.min_gain
  Hash128 best_key;             ///< variant_key of the best
  double searched_speedup = 1;  ///< of the search's best, as measured by the search
  /// number of variants timed again, including refused ones; 0: the figures are the search's
  int finalists = 0;
  /// false: finalists were not_measured and none is better than the baseline, so nothing can be
  /// reported
  bool measured = true;
  /// refused or not_measured finalists, in the search's ranking
  std::vector<Dismissal> dismissed;
  /// finalists that there was no time for (engine/run/finals.h: Finals::allowance)
  int left_out = 0;
  std::uint64_t builds = 0;  ///< outcomes applied, including earlier sessions, without the baseline
  StatusCounts by_status{};  ///< adds up to `builds`
  Verdict verdict;           ///< of the best variant
  /// The best variant, its outcome and that of the baseline: of the finals where there is one.
  /// Null unless baseline_ok; not in best_summary.json.
  std::shared_ptr<const Variant> best;
  std::shared_ptr<const Outcome> best_outcome, baseline_outcome;
  Hash128 fingerprint;  ///< Search::fingerprint(): equal for equal runs
  std::uint64_t seed = 0;
  double seconds = 0;  ///< wall time, including earlier sessions
  /// "40 builds", "nothing left to try", "interrupted", "baseline wrong_result: ..."
  std::string stop_reason;
  bool interrupted = false;  ///< a stop was requested; --resume continues

  /// 0 improved, 2 no gain, 3 the baseline failed or nothing could be measured.
  [[nodiscard]] int exit_code() const;
};
[[nodiscard]] nlohmann::json to_json(const SessionResult& result);

struct SessionStart {
  const KernelSpec& spec;  ///< the one searched (possibly substituted by the runner)
  const DeviceFacts& device;
  std::string runner;
  std::filesystem::path folder;
  bool resumed = false;
  std::uint64_t builds = 0;  ///< applied by earlier sessions
  std::uint64_t budget_builds = 0;
};

/// One applied outcome. The baseline comes first, with sequence kBaselineSequence.
struct OutcomeReport {
  std::uint64_t sequence = 0;
  NodeId node = kNoNode;
  const Hash128& key;  ///< variant_key
  std::string move;    ///< MoveInstance::text(); "baseline"
  const Outcome& outcome;
  double speedup = 0;     ///< 0 unless ok
  bool improved = false;  ///< a new best
};
inline constexpr std::uint64_t kBaselineSequence = UINT64_MAX;

/// One applied final outcome; node 0 is the baseline, which precedes the finalists.
struct FinalReport {
  NodeId node = kNoNode;
  const Hash128& key;
  std::string move;  ///< as in OutcomeReport
  const Outcome& outcome;
  /// 0 unless ok; baseline: 1, or 0 if the search's replaces it
  double speedup = 0;
  double searched_speedup = 0;  ///< as measured by the search
};

struct SessionProgress {
  std::uint64_t builds = 0;
  std::uint64_t budget_builds = 0;
  StatusCounts by_status{};
  std::size_t in_flight = 0;
  double baseline_ms = 0;
  double best_ms = 0;
  double best_speedup = 1;
  double seconds = 0;            ///< wall time, including earlier sessions
  double builds_per_second = 0;  ///< in this session; 0 until the first
};

/// Observes a session. All calls come from the session's thread; an exception ends the session.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void on_start(const SessionStart&) {}
  /// A remark of one line: a torn last event was dropped, a snapshot was not used.
  virtual void on_note(std::string_view) {}
  virtual void on_outcome(const OutcomeReport&) {}
  virtual void on_final(const FinalReport&) {}
  virtual void on_heat(const FinalReport&) {}  ///< a candidate of the finals, in a heat
  /// Called after every outcome and at least five times a second while waiting.
  virtual void on_progress(const SessionProgress&) {}
  virtual void on_finish(const SessionResult&) {}
};

/// Creates the evaluator of a prepared runner; both arguments must outlive it (runners/pool.h:
/// `runner_pool`).
using EvaluatorFactory = std::function<std::unique_ptr<Evaluator>(Runner&, const KernelSpec&)>;

/// The parameters of a campaign. Referenced objects must outlive the call.
struct SessionSetup {
  const KernelSpec& spec;  ///< as loaded; the runner may substitute another
  const Options& options;
  std::string runner_text;  ///< "host", "synthetic:rugged": resolved, never "auto"
  Runner& runner;           ///< not yet prepared
  EvaluatorFactory make_evaluator;
  const MoveRegistry& moves;
  std::vector<Proposer*> proposers;  ///< in order of precedence, none null
  Prior& prior;
  std::vector<LateProposer*> late = {};  ///< offered nodes alongside the search; none null
  /// evaluate only their proposals that go first, regardless of limits
  bool only_late = false;
  std::filesystem::path folder;  ///< OUT/kernels/<name>
  bool resume = false;           ///< continue the run in `folder`; starts one if there is none
  /// JSON object, written to environment.json (revision, compiler, device, ...)
  std::string environment_json;
  SessionObserver* observer = nullptr;
  /// describes an outcome's diagnosis in trace.md; empty: not at all
  OutcomeReader findings = {};
};

/// Runs one campaign to its end: baseline, search, finals, record. Blocking; call from one thread.
/// `stop`: finish running evaluations, save, return (`interrupted`). `abandon`: also drop running
/// evaluations. Throws Error(bad_input) before anything is written if `folder` contains a run and
/// `resume` is false, if another process works in it, or if the recorded run does not match
/// (options, spec, schema, damaged file); Error(environment) if the runner or the disk fails
/// (everything applied is then on disk).
[[nodiscard]] SessionResult run_session(const SessionSetup& setup,
                                        std::stop_token stop = {},
                                        std::stop_token abandon = {});

}  // namespace warpath
