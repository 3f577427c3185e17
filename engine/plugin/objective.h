#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/statistics.h"
#include "engine/plugin/move.h"
#include "engine/plugin/outcome.h"
#include "engine/spec/spec.h"

namespace warpath {

/// Turns timings into the reward of the search: ln(baseline / candidate) over the workloads of role
/// score, from medians (engine/base/statistics.h) of a workload's first timing; more of them, with
/// another state of the cache, are for people. b_i is the baseline timed beside the candidate where
/// the runner did so, else in its own evaluation. With speed-ups s_i = b_i / c_i and weights w_i:
///
///   geomean   exp(sum w_i ln s_i / sum w_i)       every workload counts by its ratio
///   weighted  sum w_i b_i / sum w_i c_i           long workloads count more: total time
///   worst     min s_i
class ObjectiveFunction {
 public:
  /// `min_speedup`: floor for guard workloads that set none. All references are copied from.
  ObjectiveFunction(const KernelSpec& spec, const DeviceFacts& device, double min_speedup);

  /// Sets the baseline. Returns one line if it cannot be one (not ok, a workload without a time),
  /// else empty.
  [[nodiscard]] std::string set_baseline(const Outcome& outcome);
  /// Weighted geometric mean (weighted: arithmetic mean) of the baseline's medians.
  [[nodiscard]] double baseline_ns() const { return baseline_ns_; }

  /// The last gates, of an outcome that is ok so far: every scored and guarded workload has a time,
  /// no guard got slower than its floor, no gate failed. Appends them to the verdict; a failure
  /// makes the outcome `rejected`.
  void judge(Outcome& outcome) const;
  /// ln of the speed-up of a judged outcome that is ok. 0 for the baseline itself.
  [[nodiscard]] double reward(const Outcome& outcome) const;
  /// Every scored workload was timed in turn with the baseline, twice at least.
  [[nodiscard]] bool is_paired(const Outcome& outcome) const;
  /// Of that reward, as far as the samples of this one outcome tell: a median of n samples strays
  /// by 1.2533 deviations / sqrt(n) where they are normal. What differs between evaluations is not
  /// in it. 0 where no workload has two samples.
  [[nodiscard]] double standard_error(const Outcome& outcome) const;

 private:
  struct Term {
    std::string workload;
    WorkloadRole role = WorkloadRole::score;
    double weight = 1;
    double min_speedup = 0;  // guard
    double baseline_ns = 0;
  };
  std::vector<Term> terms_;  // score and guard, spec order
  Objective objective_;
  double baseline_ns_ = 0;
};

/// The time of `workload` that counts: the median of its samples, or their trimmed mean where each
/// was taken beside one of the baseline, so that a kernel whose launches come in kinds has a time
/// between them. NaN if there are none, or one is not a positive finite number.
[[nodiscard]] double typical_ns(const Outcome& outcome, std::string_view workload);
/// Median of the baseline's samples that were taken beside them; `otherwise` if none were. NaN as
/// above.
[[nodiscard]] double paired_baseline_ns(const Outcome& outcome,
                                        std::string_view workload,
                                        double otherwise);

/// Percentile bootstrap interval of the speed-up exp(reward): every list of samples of candidate
/// and baseline is resampled, `draws` times (Efron 1979); as many samples of both that were taken
/// in turn are resampled in pairs. Deterministic in `seed`. NaN unless `baseline` can be one,
/// `candidate` is ok and `draws` >= 1.
[[nodiscard]] Interval speedup_interval(ObjectiveFunction objective,
                                        const Outcome& baseline,
                                        const Outcome& candidate,
                                        double confidence,
                                        int draws,
                                        std::uint64_t seed);

/// "18.570x [18.500, 18.600]"; "18.570x" without an interval.
[[nodiscard]] std::string ratio_text(double speedup,
                                     const std::optional<Interval>& interval = std::nullopt);

/// A speed-up and its interval.
struct SpeedupEstimate {
  double speedup = 0;
  Interval interval;
};
/// The same over several evaluations of one candidate: the geometric mean of their speed-ups. What
/// differs between evaluations is in the interval too: each draw takes evaluations with
/// replacement, then samples within each. NaN as above, and for no candidates.
[[nodiscard]] SpeedupEstimate speedup_estimate(ObjectiveFunction objective,
                                               const Outcome& baseline,
                                               std::span<const Outcome> candidates,
                                               double confidence,
                                               int draws,
                                               std::uint64_t seed);

}  // namespace warpath
