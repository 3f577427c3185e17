#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/hash.h"
#include "engine/base/statistics.h"
#include "engine/plugin/outcome.h"
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
  /// speedup >= 1 + run.min_gain, and the interval, where there is one, is above 1
  bool improved = false;
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

}  // namespace warpath
