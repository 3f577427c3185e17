#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/spec/expression.h"
#include "engine/spec/spec.h"

namespace warpath {

/// Maximum number of kernels of a portfolio beside the spec's own.
inline constexpr std::size_t kMostPortfolioKernels = 4;
/// No size becomes slower than this share of the baseline's speed.
inline constexpr double kPortfolioFloor = 0.98;
/// A further kernel must shorten the time by this share.
inline constexpr double kLeastPortfolioGain = 0.01;

/// A workload that a portfolio serves.
struct PortfolioSize {
  Bindings values;  ///< its integer and bool arguments
  WorkloadRole role = WorkloadRole::score;
  double weight = 1;
  double floor = kPortfolioFloor;  ///< least baseline time / time
  double baseline_ns = 0;          ///< 0: it is not timed (role regress)
};

/// A measured kernel that may become part of it.
struct PortfolioKernel {
  Bindings when;  ///< sizes that it holds for; empty: any, it may be the general kernel
  /// time / baseline's time, by workload; NaN: it was not measured there. 1: it is correct there,
  /// of a workload that is not timed.
  std::vector<double> ratios;
};

struct Portfolio {
  std::vector<std::size_t> kernels;  ///< tried in this order; the last is the general kernel
  std::vector<std::size_t> serving;  ///< by workload: index in `kernels`
  /// The objective's time over the baseline's, of the scored workloads, below 1 if faster.
  double ratio = 1;
  std::vector<double> best_ratios;  ///< by workload: of any kernel given
};

/// Of a decision list over `kernels` the one of least time by `objective` over the scored
/// workloads: at most kMostPortfolioKernels and, as the last, one that holds for any size, which
/// counts unless it is the spec's own; fewest where more gain less than kLeastPortfolioGain. A
/// workload is served by the first whose `when` holds, which must have been measured there and not
/// be below the workload's floor. Kernels with more conditions come first. `kernels` must hold one
/// for any size with ratio 1 everywhere: the spec's own. Of several equally good ones those that
/// come first in `kernels`.
[[nodiscard]] Portfolio choose_portfolio(const std::vector<PortfolioSize>& sizes,
                                         const std::vector<PortfolioKernel>& kernels,
                                         Objective objective);

}  // namespace warpath
