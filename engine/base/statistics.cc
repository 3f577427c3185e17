#include "engine/base/statistics.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "engine/base/rng.h"

namespace warpath {
namespace {

std::vector<double> in_order(std::span<const double> samples) {
  std::vector<double> out(samples.begin(), samples.end());
  std::sort(out.begin(), out.end());
  return out;
}

/// `sorted` ascending, not empty.
double quantile_of_sorted(std::span<const double> sorted, double q) {
  const double position = std::clamp(q, 0.0, 1.0) * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(position);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double share = position - static_cast<double>(below);
  return share == 0 ? sorted[below] : sorted[below] + share * (sorted[above] - sorted[below]);
}

/// `sorted` ascending, not empty.
double trimmed_mean_of_sorted(std::span<const double> sorted) {
  const std::size_t cut = sorted.size() < 3 ? 0 : (sorted.size() + 7) / 8;
  const auto kept = sorted.subspan(cut, sorted.size() - 2 * cut);
  return std::accumulate(kept.begin(), kept.end(), 0.0) / static_cast<double>(kept.size());
}

double mean_of_means(std::span<const std::vector<double>> groups) {
  double sum = 0;
  for (const std::vector<double>& g : groups) sum += mean(g);
  return sum / static_cast<double>(groups.size());
}

/// Percentile bootstrap of an estimator of sorted samples.
template <class Estimator>
Interval bootstrap(std::span<const double> samples,
                   double confidence,
                   int draws,
                   std::uint64_t seed,
                   const Estimator& estimate) {
  if (samples.empty() || draws < 1) {
    return {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::quiet_NaN()};
  }
  Rng rng(seed, "bootstrap");
  std::vector<double> resample(samples.size());
  std::vector<double> estimates(static_cast<std::size_t>(draws));
  for (double& one : estimates) {
    for (double& x : resample) x = samples[rng.below(samples.size())];
    std::sort(resample.begin(), resample.end());
    one = estimate(resample);
  }
  return percentile_interval(estimates, confidence);
}

}  // namespace

void Welford::add(double x) {
  ++count;
  const double delta = x - mean;
  mean += delta / static_cast<double>(count);
  m2 += delta * (x - mean);
}

double Welford::deviation() const {
  return std::sqrt(variance());
}

double mean(std::span<const double> samples) {
  return std::accumulate(samples.begin(), samples.end(), 0.0) / static_cast<double>(samples.size());
}

double quantile(std::span<const double> samples, double q) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> sorted = in_order(samples);
  return quantile_of_sorted(sorted, q);
}

double median(std::span<const double> samples) {
  return quantile(samples, 0.5);
}

double median_half_width(std::span<const double> samples) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> sorted = in_order(samples);
  const auto n = static_cast<double>(sorted.size());
  const double reach = 0.98 * std::sqrt(n);
  const auto low = static_cast<std::size_t>(std::max(0.0, std::floor(n / 2 - reach)));
  const auto high = static_cast<std::size_t>(std::min(n - 1, std::ceil(n / 2 + reach)));
  return (sorted[high] - sorted[low]) / (2 * quantile_of_sorted(sorted, 0.5));
}

double rank_correlation(std::span<const double> a, std::span<const double> b) {
  const auto ranks = [](std::span<const double> values) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t i, std::size_t j) { return values[i] < values[j]; });
    std::vector<double> out(values.size());
    for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
      while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
      for (std::size_t k = begin; k < end; ++k)
        out[order[k]] = 0.5 * static_cast<double>(begin + end - 1);
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

bool two_humps(std::span<const double> samples) {
  constexpr std::size_t kLeastSamples = 8, kLeastSide = 3;
  constexpr double kLeastShare = 0.15, kLeastStep = 0.05, kDeviations = 6;
  if (samples.size() < kLeastSamples) return false;
  const std::vector<double> sorted = in_order(samples);
  const auto n = static_cast<double>(sorted.size());
  const double total = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  double sum = 0, best = -1;
  std::size_t split = 0;
  for (std::size_t i = 1; i < sorted.size(); ++i) {
    sum += sorted[i - 1];
    const auto below = static_cast<double>(i);
    const double step = (total - sum) / (n - below) - sum / below;
    const double between = below * (n - below) * step * step;
    if (between > best) best = between, split = i;
  }
  const auto least = std::max(kLeastSide, static_cast<std::size_t>(std::ceil(kLeastShare * n)));
  if (split < least || sorted.size() - split < least) return false;
  const auto side = [&](std::size_t begin, std::size_t end) {
    const std::span<const double> values(sorted.data() + begin, end - begin);
    const double middle = quantile_of_sorted(values, 0.5);
    std::vector<double> distances;
    for (const double x : values) distances.push_back(std::abs(x - middle));
    return std::pair(middle, median(distances));
  };
  const auto [low, low_spread] = side(0, split);
  const auto [high, high_spread] = side(split, sorted.size());
  return high - low >= kLeastStep * low &&
         high - low >= kDeviations * std::max(low_spread, high_spread);
}

double trimmed_mean(std::span<const double> samples) {
  if (samples.empty()) return std::numeric_limits<double>::quiet_NaN();
  const std::vector<double> sorted = in_order(samples);
  return trimmed_mean_of_sorted(sorted);
}

Interval exponential(const Interval& of_logs) {
  return {std::exp(of_logs.low), std::exp(of_logs.high)};
}

Interval percentile_interval(std::span<const double> samples, double confidence) {
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  if (samples.empty()) return {kNone, kNone};
  const std::vector<double> sorted = in_order(samples);
  const double tail = (1 - std::clamp(confidence, 0.0, 1.0)) / 2;
  return {quantile_of_sorted(sorted, tail), quantile_of_sorted(sorted, 1 - tail)};
}

Interval bootstrap_median(std::span<const double> samples,
                          double confidence,
                          int draws,
                          std::uint64_t seed) {
  return bootstrap(samples, confidence, draws, seed,
                   [](std::span<const double> sorted) { return quantile_of_sorted(sorted, 0.5); });
}

Interval bootstrap_trimmed_mean(std::span<const double> samples,
                                double confidence,
                                int draws,
                                std::uint64_t seed) {
  return bootstrap(samples, confidence, draws, seed, trimmed_mean_of_sorted);
}

Interval bootstrap_mean(std::span<const std::vector<double>> groups,
                        double confidence,
                        int draws,
                        std::uint64_t seed) {
  Rng rng(seed, "bootstrap_mean");
  std::vector<double> means;
  for (int d = 0; d < draws; ++d) {
    double sum = 0;
    for (const std::vector<double>& g : groups) {
      double inner = 0;
      for (std::size_t i = 0; i < g.size(); ++i) inner += g[rng.below(g.size())];
      sum += inner / static_cast<double>(g.size());
    }
    means.push_back(sum / static_cast<double>(groups.size()));
  }
  return percentile_interval(means, confidence);
}

double sign_flip_p(std::span<const std::vector<double>> groups, int draws, std::uint64_t seed) {
  const double observed = std::abs(mean_of_means(groups));
  Rng rng(seed, "sign_flip");
  int as_far = 1;
  for (int d = 0; d < draws; ++d) {
    double sum = 0;
    for (const std::vector<double>& g : groups) {
      double inner = 0;
      for (const double x : g) inner += (rng.next() >> 63U) != 0 ? x : -x;
      sum += inner / static_cast<double>(g.size());
    }
    as_far += std::abs(sum / static_cast<double>(groups.size())) >= observed * (1 - 1e-12) ? 1 : 0;
  }
  return static_cast<double>(as_far) / (draws + 1);
}

std::vector<double> holm(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> out(p.size());
  double highest = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    highest = std::max(highest, std::min(1.0, p[order[i]] * static_cast<double>(order.size() - i)));
    out[order[i]] = highest;
  }
  return out;
}

}  // namespace warpath
