#include "engine/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

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

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const auto ranks = [](std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<double> out(values.size());
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
      for (std::size_t k = begin; k < end; ++k) out[order[k]] = 0.5 * static_cast<double>(begin + end - 1);
    }
    return out;
  };
  const std::vector<double> x = ranks(a), y = ranks(b);
  const double middle = 0.5 * (static_cast<double>(x.size()) - 1);
  double xx = 0, yy = 0, xy = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    xx += (x[i] - middle) * (x[i] - middle);
    yy += (y[i] - middle) * (y[i] - middle);
    xy += (x[i] - middle) * (y[i] - middle);
  }
  return xx > 0 && yy > 0 ? xy / std::sqrt(xx * yy) : 0;
}

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
