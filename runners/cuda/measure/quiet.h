#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/statistics.h"

namespace warpath::cuda {

/// What launches of a kernel of known length, one right behind the other, say of a device: how much
/// of it something else had.
struct CanaryReading {
  /// share of the time between the first and the last of them that none of them explains, in [0, 1]
  double stolen = 0;
  double median_ns = 0;  ///< of a launch
};
/// `launches_ns`: each from its predecessor's end to its own, not empty; `span_ns`: of all
/// together.
[[nodiscard]] CanaryReading read_canary(std::span<const double> launches_ns, double span_ns);

/// How a reading tells that the device works for somebody else, as one phrase; empty if it does
/// not. `rest_ns`: median of the fastest reading so far; 0: there is none. Pure.
struct QuietLimits;
[[nodiscard]] std::string other_work(const CanaryReading& reading,
                                     double rest_ns,
                                     const QuietLimits& limits);

/// What pairs on one workload gave.
struct PairedPart {
  double weight = 1;               ///< of the workload
  std::vector<double> log_ratios;  ///< by pair: ln(other / candidate)
  /// samples of either side over the median of those taken with them
  std::vector<double> residuals;
  double candidate_ns = 0;
};

/// One attempt to time a candidate in pairs: all scored workloads, between two readings of the
/// canary.
struct Take {
  CanaryReading before, after;
  std::vector<PairedPart> parts;
};

/// When a take counts as quiet.
struct QuietLimits {
  double stolen = 0.04;  ///< most of a canary's time
  /// most of the canary before a take over the fastest one so far; what a take heats up is slow
  /// behind it
  double canary_slower = 0.10;
  double width = 0.02;  ///< most of the 99 % interval of the log ratio
  /// most between a candidate's time and what the search saw of it, before it is timed once more
  double differs = 0.03;
  /// most between takes that confirm each other, or what their own intervals explain
  double agrees = 0.02;
  int takes = 4;  ///< most
};

/// Trimmed mean of the log ratios over the parts and its 99 % interval, by weight. `takes`: pooled.
struct Gain {
  double log_ratio = 0;
  Interval interval;
};
[[nodiscard]] Gain gain_of(std::span<const Take> takes);

/// What to make of the takes so far.
struct QuietJudgement {
  enum class Next { accept, again, give_up };
  Next next = Next::again;
  std::vector<std::size_t> counted;  ///< accept: the takes that count, together
  /// again, give_up: what was wrong with the last one; accept: what is worth saying, or nothing
  std::string why;
};
/// A take during which the device did something else (`canary_rest_ns`: of the fastest canary so
/// far) counts for nothing. A quiet one is accepted where its pairs agree among each other and with
/// the search (`searched_ns`: objective time; 0: unknown), or where an earlier quiet one confirms
/// it. What disagrees with itself is accepted from two or more quiet takes together, if they agree
/// and their interval is narrow: then it is the kernel that is so. Pure.
[[nodiscard]] QuietJudgement judge_takes(std::span<const Take> takes,
                                         double searched_ns,
                                         double canary_rest_ns,
                                         const QuietLimits& limits = {});

}  // namespace warpath::cuda
