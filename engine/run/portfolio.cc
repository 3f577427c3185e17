#include "engine/run/portfolio.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <set>

#include "engine/base/error.h"

namespace warpath {
namespace {

/// Kernels that are considered: the fastest so many at any workload, and so many general ones.
constexpr std::size_t kMostAtSize = 3;
constexpr std::size_t kMostGeneral = 6;

bool holds(const Bindings& when, const Bindings& values) {
  return std::ranges::all_of(when, [&](const auto& wanted) {
    const auto it = values.find(wanted.first);
    return it != values.end() && it->second == wanted.second;
  });
}

/// The first for any size that is as fast as the spec's own everywhere.
std::size_t spec_kernel(const std::vector<PortfolioKernel>& kernels) {
  const auto own = std::ranges::find_if(kernels, [](const PortfolioKernel& one) {
    return one.when.empty() &&
           std::ranges::all_of(one.ratios, [](double ratio) { return ratio == 1; });
  });
  WARPATH_CHECK(own != kernels.end());
  return static_cast<std::size_t>(own - kernels.begin());
}

class Choice {
 public:
  Choice(const std::vector<PortfolioSize>& sizes,
         const std::vector<PortfolioKernel>& kernels,
         Objective objective)
      : sizes_(sizes), kernels_(kernels), objective_(objective), own_(spec_kernel(kernels)) {}

  Portfolio best() {
    const std::vector<std::size_t> special = specials();
    for (const std::size_t general : generals()) extend({}, special, 0, general);
    WARPATH_CHECK(best_.front().has_value());
    double least = std::numeric_limits<double>::infinity();
    for (const auto& one : best_) {
      if (one) least = std::min(least, one->ratio);
    }
    for (auto& one : best_) {
      if (!one || one->ratio * (1 - kLeastPortfolioGain) > least) continue;
      one->best_ratios = best_ratios();
      return *std::move(one);
    }
    return {};  // not reached: one of them is the least
  }

 private:
  /// Kernels with a condition that are among the fastest where they hold.
  [[nodiscard]] std::vector<std::size_t> specials() const {
    std::set<std::size_t> out;
    for (std::size_t w = 0; w < sizes_.size(); ++w) {
      if (sizes_[w].role != WorkloadRole::score) continue;
      std::vector<std::size_t> here;
      for (std::size_t k = 0; k < kernels_.size(); ++k) {
        if (!kernels_[k].when.empty() && usable(k, w)) here.push_back(k);
      }
      std::ranges::stable_sort(here, {}, [&](std::size_t k) { return kernels_[k].ratios[w]; });
      here.resize(std::min(here.size(), kMostAtSize));
      out.insert(here.begin(), here.end());
    }
    return {out.begin(), out.end()};
  }

  /// Kernels for any size, the fastest over all scored workloads first; the spec's own is among
  /// them.
  [[nodiscard]] std::vector<std::size_t> generals() const {
    std::vector<std::size_t> out;
    for (std::size_t k = 0; k < kernels_.size(); ++k) {
      if (kernels_[k].when.empty()) out.push_back(k);
    }
    const auto over_all = [&](std::size_t k) {
      const std::vector<std::size_t> everywhere(sizes_.size(), 0);
      const double ratio = objective_ratio({k}, everywhere);
      return std::isnan(ratio) ? std::numeric_limits<double>::infinity() : ratio;
    };
    std::ranges::stable_sort(out, {}, over_all);
    out.resize(std::min(out.size(), kMostGeneral));
    if (std::ranges::find(out, own_) == out.end()) out.push_back(own_);
    return out;
  }

  /// All sets that add some of special[from...] to `chosen`.
  void extend(const std::vector<std::size_t>& chosen,
              const std::vector<std::size_t>& special,
              std::size_t from,
              std::size_t general) {
    consider(chosen, general);
    const std::size_t counted = chosen.size() + (general == own_ ? 0 : 1);
    if (counted >= kMostPortfolioKernels) return;
    for (std::size_t i = from; i < special.size(); ++i) {
      const bool known = std::ranges::any_of(
          chosen, [&](std::size_t k) { return kernels_[k].when == kernels_[special[i]].when; });
      if (known) continue;
      std::vector<std::size_t> more = chosen;
      more.push_back(special[i]);
      extend(more, special, i + 1, general);
    }
  }

  void consider(std::vector<std::size_t> list, std::size_t general) {
    std::ranges::stable_sort(list, std::greater<>(),
                             [&](std::size_t k) { return kernels_[k].when.size(); });
    list.push_back(general);
    Portfolio one;
    for (std::size_t w = 0; w < sizes_.size(); ++w) {
      const auto first = std::ranges::find_if(
          list, [&](std::size_t k) { return holds(kernels_[k].when, sizes_[w].values); });
      if (!usable(*first, w)) return;
      one.serving.push_back(static_cast<std::size_t>(first - list.begin()));
    }
    one.ratio = objective_ratio(list, one.serving);
    one.kernels = std::move(list);
    auto& known = best_[one.kernels.size() - 1];
    if (!known || one.ratio < known->ratio) known = std::move(one);
  }

  /// It holds and was measured there, and is not below the floor.
  [[nodiscard]] bool usable(std::size_t kernel, std::size_t w) const {
    const double ratio = kernels_[kernel].ratios[w];
    return holds(kernels_[kernel].when, sizes_[w].values) && ratio > 0 &&
           1 / ratio >= sizes_[w].floor;
  }

  /// As ObjectiveFunction, over the scored workloads.
  [[nodiscard]] double objective_ratio(const std::vector<std::size_t>& list,
                                       const std::vector<std::size_t>& serving) const {
    double weights = 0, logs = 0, times = 0, baseline = 0, worst = 0;
    for (std::size_t w = 0; w < sizes_.size(); ++w) {
      const PortfolioSize& size = sizes_[w];
      if (size.role != WorkloadRole::score) continue;
      const double ratio = kernels_[list[serving[w]]].ratios[w];
      weights += size.weight;
      logs += size.weight * std::log(ratio);
      times += size.weight * size.baseline_ns * ratio;
      baseline += size.weight * size.baseline_ns;
      worst = std::max(worst, ratio);
    }
    switch (objective_) {
      case Objective::geomean:
        return std::exp(logs / weights);
      case Objective::weighted:
        return times / baseline;
      case Objective::worst:
        return worst;
    }
    return 1;  // not reached
  }

  [[nodiscard]] std::vector<double> best_ratios() const {
    std::vector<double> out(sizes_.size(), 1);
    for (std::size_t w = 0; w < sizes_.size(); ++w) {
      for (std::size_t k = 0; k < kernels_.size(); ++k) {
        if (usable(k, w)) out[w] = std::min(out[w], kernels_[k].ratios[w]);
      }
    }
    return out;
  }

  const std::vector<PortfolioSize>& sizes_;
  const std::vector<PortfolioKernel>& kernels_;
  const Objective objective_;
  const std::size_t own_;
  std::array<std::optional<Portfolio>, kMostPortfolioKernels + 1> best_;  // by size - 1
};

}  // namespace

Portfolio choose_portfolio(const std::vector<PortfolioSize>& sizes,
                           const std::vector<PortfolioKernel>& kernels,
                           Objective objective) {
  return Choice(sizes, kernels, objective).best();
}

}  // namespace warpath
