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
#include "engine/plugin/move.h"
#include "engine/plugin/options.h"
#include "engine/plugin/outcome.h"
#include "engine/plugin/outcome_reader.h"
#include "engine/plugin/runner.h"
#include "engine/spec/spec.h"

namespace warpath {

/// Outcomes by status, in enumerator order; the baseline is not counted.
using StatusCounts = std::array<std::uint64_t, kStatusNames.size()>;

/// A finalist that is not reported.
struct Dismissal {
  Hash128 key;
  std::string move;                  ///< that made it
  Status status = Status::rejected;  ///< not ok
  std::string gate;                  ///< that refused it; empty: none did
  std::string detail;                ///< by how much, or why it could not be measured
  double searched_speedup = 0;
};

/// What a campaign over one spec came to. best_summary.json holds exactly this.
struct SessionResult {
  std::string name;          ///< of the spec
  std::string runner;        ///< "host", "synthetic:rugged", ...
  std::string device;        ///< DeviceFacts::name
  bool baseline_ok = false;  ///< false: nothing was searched, `stop_reason` says why
  // Where finalists were timed again, the next six and `verdict` are theirs, else the search's.
  double baseline_ms = 0;  ///< objective time of the baseline; 0 unless baseline_ok
  double best_ms = 0;      ///< baseline_ms / speedup
  /// of the best variant, by the spec's objective; the baseline itself is 1
  double speedup = 1;
  /// 99 %, of the pairs in which the best was timed; none for the baseline and without pairs
  std::optional<Interval> speedup_interval;
  bool improved = false;        ///< speedup >= 1 + run.min_gain
  Hash128 best_key;             ///< variant_key of the best
  double searched_speedup = 1;  ///< of the search's best, as the search saw it
  /// variants that were timed again, refused ones included; 0: the figures are the search's
  int finalists = 0;
  /// false: finalists were not_measured and none is better than the baseline; there is nothing to
  /// report
  bool measured = true;
  /// finalists that were refused or not_measured, best of the search first
  std::vector<Dismissal> dismissed;
  /// finalists that there was no time for (engine/run/finals.h: Finals::allowance)
  int left_out = 0;
  std::uint64_t builds = 0;  ///< outcomes applied, earlier sessions included, baseline excluded
  StatusCounts by_status{};  ///< sums to `builds`
  Verdict verdict;           ///< of the best variant
  Hash128 fingerprint;       ///< Search::fingerprint(): equal runs have equal ones
  std::uint64_t seed = 0;
  double seconds = 0;  ///< wall time, earlier sessions included
  /// "40 builds", "nothing left to try", "interrupted", "baseline wrong_result: ..."
  std::string stop_reason;
  bool interrupted = false;  ///< a stop was requested; --resume continues

  /// 0 improved, 2 no gain, 3 the baseline failed or nothing could be measured.
  [[nodiscard]] int exit_code() const;
};
[[nodiscard]] nlohmann::json to_json(const SessionResult& result);

struct SessionStart {
  const KernelSpec& spec;  ///< the one searched (a runner may have substituted it)
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

/// One applied final outcome; node 0 is the baseline, which comes before the finalists.
struct FinalReport {
  NodeId node = kNoNode;
  const Hash128& key;
  std::string move;  ///< as in OutcomeReport
  const Outcome& outcome;
  /// 0 unless ok; baseline: 1, or 0 where the search's must serve in its place
  double speedup = 0;
  double searched_speedup = 0;  ///< as the search saw it
};

struct SessionProgress {
  std::uint64_t builds = 0;
  std::uint64_t budget_builds = 0;
  StatusCounts by_status{};
  std::size_t in_flight = 0;
  double baseline_ms = 0;
  double best_ms = 0;
  double best_speedup = 1;
  double seconds = 0;            ///< wall time, earlier sessions included
  double builds_per_second = 0;  ///< of this session; 0 until the first
};

/// Watches a session. All calls come from the session's thread; an exception ends the session.
class SessionObserver {
 public:
  virtual ~SessionObserver() = default;
  virtual void on_start(const SessionStart&) {}
  /// One line for people: a torn last event was dropped, a snapshot was not used.
  virtual void on_note(std::string_view) {}
  virtual void on_outcome(const OutcomeReport&) {}
  virtual void on_final(const FinalReport&) {}
  virtual void on_heat(const FinalReport&) {}  ///< a candidate of the finals, in a heat
  /// After every outcome and at least five times a second while waiting.
  virtual void on_progress(const SessionProgress&) {}
  virtual void on_finish(const SessionResult&) {}
};

/// Makes the evaluator over a prepared runner; both arguments outlive it (runners/pool.h:
/// `runner_pool`).
using EvaluatorFactory = std::function<std::unique_ptr<Evaluator>(Runner&, const KernelSpec&)>;

/// What one campaign needs. Everything referred to outlives the call.
struct SessionSetup {
  const KernelSpec& spec;  ///< as loaded; the runner may substitute another
  const Options& options;
  std::string runner_text;  ///< "host", "synthetic:rugged": resolved, never "auto"
  Runner& runner;           ///< not yet prepared
  EvaluatorFactory make_evaluator;
  const MoveRegistry& moves;
  std::vector<Proposer*> proposers;  ///< in order of precedence, none null
  Prior& prior;
  std::vector<LateProposer*> late = {};  ///< asked about nodes beside the search, none null
  /// evaluate what goes first of what they say, whatever the limits are, and nothing else
  bool only_late = false;
  std::filesystem::path folder;  ///< OUT/kernels/<name>
  bool resume = false;           ///< continue the run in `folder`; starts one if there is none
  /// JSON object, written to environment.json (revision, compiler, device, ...)
  std::string environment_json;
  SessionObserver* observer = nullptr;
  /// what trace.md says of an outcome's diagnosis; empty: nothing
  OutcomeReader findings = {};
};

/// Runs one campaign to its end: baseline, search, finals, record. Blocks; call from one thread.
/// `stop`: finish what is being evaluated, save, return (`interrupted`). `abandon`: drop what is
/// being evaluated as well. Throws Error(bad_input) before anything is written when `folder` holds
/// a run and `resume` is false, when another process works in it, or when the recorded run does not
/// fit (options, spec, schema, damaged file); Error(environment) when the runner or the disk fails
/// (what was applied is on disk by then).
[[nodiscard]] SessionResult run_session(const SessionSetup& setup,
                                        std::stop_token stop = {},
                                        std::stop_token abandon = {});

}  // namespace warpath
