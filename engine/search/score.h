#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/statistics.h"

namespace warpath {

/// The expected performance of uniform search on a space with known times, the scale on which
/// strategies are scored.
class ScoreScale {
 public:
  /// `valid`: times of all points that ran, not empty; `invalid`: number of the others, each as bad
  /// as the worst valid one.
  ScoreScale(std::vector<double> valid, std::size_t invalid);

  [[nodiscard]] double optimum() const { return ascending_.front(); }
  [[nodiscard]] double worst() const { return ascending_[valid_ - 1]; }
  [[nodiscard]] double median_time() const;
  [[nodiscard]] std::size_t points() const { return ascending_.size(); }

  /// Evaluations after which uniform search is expected within 1 - `cutoff` of the way from the
  /// median to the optimum (Willemsen et al. 2024: i / (N + 1 - i), i the first of the valid times,
  /// worst first, at the cut-off), at least 1.
  [[nodiscard]] std::uint64_t budget(double cutoff = 0.95) const;

  /// E[best of m distinct uniform draws], from the order statistics: sum_j a_j C(n-j, m-1) / C(n,
  /// m), best first. [budget], m = 1, 2, ...
  [[nodiscard]] std::vector<double> baseline(std::uint64_t budget) const;
  /// Mean over m of (baseline - best so far) / (baseline - optimum): 0 like uniform search, 1 the
  /// optimum at once. `best` and `baseline` are indexed by evaluations - 1; `best` may be shorter
  /// if a search stopped early.
  [[nodiscard]] double score(std::span<const double> best, std::span<const double> baseline) const;

  /// The form published for Kernel Tuner, for comparison only: median over repeats of the rank,
  /// relative to the rank of the mean. Uniform search gets about 0.2.
  [[nodiscard]] double published_score(std::span<const std::vector<double>> repeats,
                                       std::uint64_t budget) const;

 private:
  std::vector<double> ascending_;  // all points, invalid ones last
  std::size_t valid_;
};

}  // namespace warpath
