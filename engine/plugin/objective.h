#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/statistics.h"
#include "engine/plugin/device_facts.h"
#include "engine/plugin/outcome.h"
#include "engine/spec/spec.h"

namespace warpath {

/// Converts timings to the reward of the search, ln(baseline / candidate) over the workloads of
/// role score, from the medians (engine/base/statistics.h) of each workload's first timing; further
/// timings, in another cache state, are informational. b_i is the baseline timed alongside the
/// candidate if the runner did so, otherwise in its own evaluation. With speed-ups s_i = b_i / c_i
/// and weights w_i:
///
///   geomean   exp(sum w_i ln s_i / sum w_i)       every workload counts by its ratio
///   weighted  sum w_i b_i / sum w_i c_i           long workloads count more: total time
///   worst     min s_i
class ObjectiveFunction {
 public:
  /// `min_speedup`: minimum for guard workloads that set none. Arguments are copied.
  ObjectiveFunction(const KernelSpec& spec, const DeviceFacts& device, double min_speedup);

  /// Sets the baseline. Returns one line if it is unusable (not ok, a workload without a time),
  /// otherwise empty.
  [[nodiscard]] std::string set_baseline(const Outcome& outcome);
  /// Weighted geometric mean (weighted: arithmetic mean) of the baseline's times.
  [[nodiscard]] double baseline_ns() const { return baseline_ns_; }
  /// The same as timed alongside a judged outcome that is ok: over its speed-up it is the time that
  /// was measured of the candidate.
  [[nodiscard]] double baseline_ns(const Outcome& outcome) const;

  /// The last gates, for an outcome that is ok so far: every scored and guarded workload has a
  /// time, no guard is slower than its minimum, no gate failed. Appends them to the verdict; a
  /// failure makes the outcome `rejected`.
  void judge(Outcome& outcome) const;
  /// ln of the speed-up of a judged outcome that is ok. 0 for the baseline itself.
  [[nodiscard]] double reward(const Outcome& outcome) const;
  /// Every scored workload was timed alternately with the baseline, at least twice.
  [[nodiscard]] bool is_paired(const Outcome& outcome) const;
  /// Standard error of that reward within this outcome: a median of n normal samples has 1.2533
  /// deviations / sqrt(n). Excludes variation between evaluations. 0 if no workload has two
  /// samples.
  [[nodiscard]] double standard_error(const Outcome& outcome) const;

 private:
  struct Term {
    std::string workload;
    WorkloadRole role = WorkloadRole::score;
    double weight = 1;
    double min_speedup = 0;  // guard
    double baseline_ns = 0;
  };
  [[nodiscard]] double combined(const std::function<double(const Term&)>& ns) const;

  std::vector<Term> terms_;  // score and guard, spec order
  Objective objective_;
  double baseline_ns_ = 0;
};

/// The time of `workload` that counts: the median of its samples or, if paired with baseline
/// samples, their trimmed mean, which represents multimodal launch times better. NaN if there are
/// none, or one is not a positive finite number.
[[nodiscard]] double typical_ns(const Outcome& outcome, std::string_view workload);
/// Median of the baseline's paired samples; `otherwise` if there are none. NaN as above.
[[nodiscard]] double paired_baseline_ns(const Outcome& outcome,
                                        std::string_view workload,
                                        double otherwise);

/// Percentile bootstrap interval of the speed-up exp(reward): resamples every list of samples of
/// candidate and baseline `draws` times (Efron 1979); equally many samples taken alternately are
/// resampled in pairs. Deterministic in `seed`. NaN unless `baseline` is usable, `candidate` is ok
/// and `draws` >= 1.
[[nodiscard]] Interval speedup_interval(ObjectiveFunction objective,
                                        const Outcome& baseline,
                                        const Outcome& candidate,
                                        double confidence,
                                        int draws,
                                        std::uint64_t seed);

/// A speed-up and its interval.
struct SpeedupEstimate {
  double speedup = 0;
  Interval interval;
};
/// The same over several evaluations of one candidate: the geometric mean of their speed-ups. The
/// interval includes variation between evaluations: each draw resamples evaluations, then samples
/// within each. NaN as above, and for no candidates.
[[nodiscard]] SpeedupEstimate speedup_estimate(ObjectiveFunction objective,
                                               const Outcome& baseline,
                                               std::span<const Outcome> candidates,
                                               double confidence,
                                               int draws,
                                               std::uint64_t seed);

}  // namespace warpath
