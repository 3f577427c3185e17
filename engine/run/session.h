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
#include "engine/run/session_result.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"

namespace warpath {

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
