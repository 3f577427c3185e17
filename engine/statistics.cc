#include "engine/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/rng.h"

namespace warpath {
namespace {

/// `sorted` ascending, not empty.
double quantile_of_sorted(std::span<const double> sorted, double q) {
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return share == 0 ? sorted[below] : sorted[below] + share * (sorted[above] - sorted[below]);
}

}  // namespace

void Welford::add(double x) {
  ++count;
  const double delta = x - mean;
  mean += delta / static_cast<double>(count);
  m2 += delta * (x - mean);
}

void Welford::replace(double old_x, double new_x) {
  const double delta = new_x - old_x;
  const double old_mean = mean;
  mean += delta / static_cast<double>(count);
  m2 = std::max(0.0, m2 + delta * (new_x - mean + old_x - old_mean));
}

double Welford::deviation() const { return std::sqrt(variance()); }

double quantile(std::span<const double> samples, double q) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  return quantile_of_sorted(sorted, q);
}

double median(std::span<const double> samples) { return quantile(samples, 0.5); }

Interval bootstrap_median(std::span<const double> samples, double confidence, int draws, std::uint64_t seed) {
  if (samples.empty() || draws < 1) {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }
  Rng rng(seed, "bootstrap");
  std::vector<double> resample(samples.size());
  std::vector<double> medians(static_cast<std::size_t>(draws));
  for (double& m : medians) {
    for (double& x : resample) x = samples[rng.below(samples.size())];
    std::sort(resample.begin(), resample.end());
    m = quantile_of_sorted(resample, 0.5);
  }
  std::sort(medians.begin(), medians.end());
  const double tail = (1 - std::clamp(confidence, 0.0, 1.0)) / 2;
  return {quantile_of_sorted(medians, tail), quantile_of_sorted(medians, 1 - tail)};
}

}  // namespace warpath
