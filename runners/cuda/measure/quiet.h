#pragma once

#include <span>
#include <string>
#include <vector>

#include "engine/base/statistics.h"

namespace warpath::cuda {

/// What back-to-back launches of a kernel of known duration reveal about other work on the device.
struct CanaryReading {
  /// share of the time from the first to the last that no launch accounts for, in [0, 1]
  double stolen = 0;
  double median_ns = 0;  ///< of a launch
};
/// `launches_ns`: time from the predecessor's end to the launch's own end, not empty; `span_ns`:
/// total time.
[[nodiscard]] CanaryReading read_canary(std::span<const double> launches_ns, double span_ns);

/// How a reading shows that the device does other work, as one phrase; empty if it does not.
/// `rest_ns`: median of the fastest reading so far; 0: none. Pure.
struct QuietLimits;
[[nodiscard]] std::string other_work(const CanaryReading& reading,
                                     double rest_ns,
                                     const QuietLimits& limits);

/// Result of the pairs on one workload.
struct PairedPart {
  double weight = 1;               ///< of the workload
  std::vector<double> log_ratios;  ///< by pair: ln(other / candidate)
  /// samples of either side over the median of those taken with them
  std::vector<double> residuals;
  double candidate_ns = 0;
};

/// One attempt to time a candidate in pairs: all scored workloads, between two canary readings.
struct Take {
  CanaryReading before, after;
  std::vector<PairedPart> parts;
};

/// When a take counts as quiet.
struct QuietLimits {
  double stolen = 0.04;  ///< maximum CanaryReading::stolen
  /// maximum slowdown of the canary before a take relative to the fastest one; the canary after a
  /// take is slow from heat
  double canary_slower = 0.10;
  double width = 0.02;           ///< maximum width of the 99 % interval of the log ratio
  double width_together = 0.02;  ///< the same for takes that agree
  /// maximum difference between a candidate's time and the search's before it is timed again
  double differs = 0.03;
  /// maximum difference between takes that confirm each other, unless their intervals explain more
  double agrees = 0.02;
  int takes = 4;             ///< maximum number of takes
  int takes_that_agree = 8;  ///< while the quiet ones agree, but are not narrow together yet
};

/// Weighted trimmed mean of the log ratios over the parts, with its 99 % interval. `takes`: pooled.
struct Gain {
  double log_ratio = 0;
  Interval interval;
};
[[nodiscard]] Gain gain_of(std::span<const Take> takes);

/// What to do after the takes so far.
struct QuietJudgement {
  enum class Next { accept, again, give_up };
  Next next = Next::again;
  std::vector<std::size_t> counted;  ///< accept: the takes that count, together
  /// again, give_up: what was wrong with the last take; accept: a remark or empty
  std::string why;
};
/// Ignores takes during which the device did other work (`canary_rest_ns`: of the fastest canary so
/// far). Accepts a quiet take if its pairs agree with each other and with the search
/// (`searched_ns`: objective time; 0: unknown), or if an earlier quiet take confirms it. Two or
/// more quiet takes that agree are accepted together if their joint interval is narrow, even if
/// each disagrees within itself: then the kernel itself varies, and more takes narrow it. Pure.
[[nodiscard]] QuietJudgement judge_takes(std::span<const Take> takes,
                                         double searched_ns,
                                         double canary_rest_ns,
                                         const QuietLimits& limits = {});

}  // namespace warpath::cuda
