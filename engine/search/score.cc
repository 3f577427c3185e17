#include "engine/search/score.h"

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

namespace warpath {
ScoreScale::ScoreScale(std::vector<double> valid, std::size_t invalid)
    : ascending_(std::move(valid)), valid_(ascending_.size()) {
  WARPATH_CHECK(valid_ > 0);
  std::sort(ascending_.begin(), ascending_.end());
  ascending_.insert(ascending_.end(), invalid, worst());
}

double ScoreScale::median_time() const {
  return median(std::span(ascending_).first(valid_));
}

std::uint64_t ScoreScale::budget(double cutoff) const {
  const double limit = optimum() + (median_time() - optimum()) * (1 - cutoff);
  const auto within =
      std::upper_bound(ascending_.begin(), ascending_.begin() + static_cast<std::ptrdiff_t>(valid_),
                       limit) -
      ascending_.begin();
  const auto first = static_cast<double>(valid_) - static_cast<double>(within);
  return std::max<std::uint64_t>(
      1, static_cast<std::uint64_t>(std::ceil(first / (static_cast<double>(within) + 1))));
}

std::vector<double> ScoreScale::baseline(std::uint64_t budget) const {
  const auto n = static_cast<double>(points());
  std::vector<double> out;
  for (std::uint64_t m = 1; m <= budget; ++m) {
    const auto drawn = std::min(static_cast<double>(m), n);
    double p = drawn / n;  // that the j-th best is the best drawn
    double expected = 0;
    for (std::size_t j = 1; j <= points() && p > 0; ++j) {
      expected += p * ascending_[j - 1];
      const double others = n - static_cast<double>(j);
      p = others > 0 ? p * std::max(0.0, others - drawn + 1) / others : 0;
    }
    out.push_back(expected);
  }
  return out;
}

double ScoreScale::score(std::span<const double> best, std::span<const double> baseline) const {
  double sum = 0;
  double reached = worst();
  for (std::size_t i = 0; i < baseline.size(); ++i) {
    if (i < best.size()) reached = best[i];
    const double room = baseline[i] - optimum();
    if (room > 0) sum += (baseline[i] - reached) / room;
  }
  return sum / static_cast<double>(baseline.size());
}

double ScoreScale::published_score(std::span<const std::vector<double>> repeats,
                                   std::uint64_t budget) const {
  const auto n = static_cast<double>(valid_);
  double sum = 0;
  for (std::uint64_t m = 1; m <= budget; ++m) {
    std::vector<double> ranks;  // worst first
    for (const std::vector<double>& best : repeats) {
      const double reached =
          best.empty() ? worst() : best[std::min<std::size_t>(best.size(), m) - 1];
      const auto faster =
          std::lower_bound(ascending_.begin(),
                           ascending_.begin() + static_cast<std::ptrdiff_t>(valid_), reached) -
          ascending_.begin();
      ranks.push_back(n - 1 - std::min(static_cast<double>(faster), n - 1));
    }
    const auto at = [&](double rank) {
      return ascending_[static_cast<std::size_t>(n - 1 - std::clamp(rank, 0.0, n - 1))];
    };
    const double base =
        at(std::round(static_cast<double>(m) * (n + 1) / (static_cast<double>(m) + 1)));
    const double room = base - optimum();
    const double reached = at(std::round(median(ranks)));
    if (room > 0) sum += (base - reached) / room;
  }
  return sum / static_cast<double>(budget);
}

}  // namespace warpath
