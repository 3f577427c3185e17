#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace warpath {

/// Running mean and variance (Welford 1962).
struct Welford {
  std::uint64_t count = 0;
  double mean = 0;
  double m2 = 0;
  void add(double x);
  [[nodiscard]] double variance() const {
    return count > 1 ? m2 / static_cast<double>(count - 1) : 0;
  }
  [[nodiscard]] double deviation() const;
  bool operator==(const Welford&) const = default;
};

/// Running weighted mean.
struct WeightedMean {
  double sum = 0, weight = 0;
  void add(double x, double of_weight) { sum += of_weight * x, weight += of_weight; }
  /// NaN without weight.
  [[nodiscard]] double value() const { return sum / weight; }
};

/// NaN if empty.
[[nodiscard]] double mean(std::span<const double> samples);
/// The estimator of a launch time: the median, which a few interrupted launches do not move. NaN if
/// empty.
[[nodiscard]] double median(std::span<const double> samples);
/// q in [0, 1], linear interpolation between order statistics. NaN if empty.
[[nodiscard]] double quantile(std::span<const double> samples, double q);

/// Half the width of the 95 % interval of the median by order statistics, relative to the median.
/// NaN if empty.
[[nodiscard]] double median_half_width(std::span<const double> samples);

/// Spearman's rank correlation, equal values sharing their mean rank; 0 where either side is
/// constant. Sizes must be equal.
[[nodiscard]] double rank_correlation(std::span<const double> a, std::span<const double> b);

struct Interval {
  double low = 0, high = 0;
};
/// e to the power of both ends: of logarithms of ratios, the interval of the ratios.
[[nodiscard]] Interval exponential(const Interval& of_logs);
/// The middle share `confidence` (in [0, 1]) of the samples. NaN if empty.
[[nodiscard]] Interval percentile_interval(std::span<const double> samples, double confidence);
/// Percentile bootstrap interval of the median (Efron 1979); deterministic in `seed`. `confidence`
/// in [0, 1]. NaN if `samples` is empty or `draws` < 1.
[[nodiscard]] Interval bootstrap_median(std::span<const double> samples,
                                        double confidence,
                                        int draws,
                                        std::uint64_t seed);

/// Mean without an eighth of three or more samples, rounded up, at either end: of what comes in
/// kinds each counts by how often it comes, and a few interrupted launches do not count. NaN if
/// empty.
[[nodiscard]] double trimmed_mean(std::span<const double> samples);
/// Of the trimmed mean, as bootstrap_median.
[[nodiscard]] Interval bootstrap_trimmed_mean(std::span<const double> samples,
                                              double confidence,
                                              int draws,
                                              std::uint64_t seed);

/// Whether positive samples come from two states of what is measured rather than one: the split of
/// the sorted samples with the largest variance between its sides (Otsu 1979) leaves at least 15 %
/// and three samples on either side, whose medians differ by 5 % and by six times the larger of the
/// sides' median absolute deviations. A few stray samples, a wide single hump and a small step are
/// not two humps. False for fewer than 8 samples.
[[nodiscard]] bool two_humps(std::span<const double> samples);

/// Percentile bootstrap interval of the mean over groups of each group's mean: members are
/// resampled, groups are fixed.
[[nodiscard]] Interval bootstrap_mean(std::span<const std::vector<double>> groups,
                                      double confidence,
                                      int draws,
                                      std::uint64_t seed);
/// Two-sided sign-flip test that this mean is 0 (Fisher 1935): p in (0, 1].
[[nodiscard]] double sign_flip_p(std::span<const std::vector<double>> groups,
                                 int draws,
                                 std::uint64_t seed);
/// p-values adjusted for multiple testing (Holm 1979), in the given order.
[[nodiscard]] std::vector<double> holm(std::span<const double> p);

}  // namespace warpath
