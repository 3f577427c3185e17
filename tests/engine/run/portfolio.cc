#include "engine/run/portfolio.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/rng.h"

using namespace warpath;

namespace {

const double kNone = std::numeric_limits<double>::quiet_NaN();

PortfolioSize size(std::int64_t n, WorkloadRole role = WorkloadRole::score) {
  return {
      .values = {{"n", n}}, .role = role, .weight = 1, .floor = kPortfolioFloor, .baseline_ns = 1};
}

PortfolioKernel own(std::size_t sizes) {
  return {.when = {}, .ratios = std::vector<double>(sizes, 1)};
}

/// The list as it is written decides what serves a size.
void check_served(const std::vector<PortfolioSize>& sizes,
                  const std::vector<PortfolioKernel>& kernels,
                  const Portfolio& portfolio) {
  REQUIRE_FALSE(portfolio.kernels.empty());
  const bool ends_in_own = portfolio.kernels.back() == 0;
  CHECK(portfolio.kernels.size() <= kMostPortfolioKernels + (ends_in_own ? 1 : 0));
  CHECK(kernels[portfolio.kernels.back()].when.empty());
  for (std::size_t w = 0; w < sizes.size(); ++w) {
    std::size_t first = 0;
    while (!std::ranges::includes(sizes[w].values, kernels[portfolio.kernels[first]].when)) ++first;
    CHECK(portfolio.serving[w] == first);
    const double ratio = kernels[portfolio.kernels[first]].ratios[w];
    CHECK(ratio > 0);
    CHECK(1 / ratio >= sizes[w].floor);
    CHECK(portfolio.best_ratios[w] <= ratio);
  }
}

}  // namespace

TEST_SUITE_BEGIN("portfolio");

TEST_CASE("each size gets its fastest kernel, the general one serves the rest") {
  const std::vector<PortfolioSize> sizes{size(1), size(2), size(3)};
  const std::vector<PortfolioKernel> kernels{own(3),
                                             {{{"n", 1}}, {0.5, kNone, kNone}},
                                             {{{"n", 2}}, {kNone, 0.25, kNone}},
                                             {{{"n", 2}}, {kNone, 0.5, kNone}},
                                             {{}, {0.9, 0.9, 0.8}}};
  const Portfolio portfolio = choose_portfolio(sizes, kernels, Objective::geomean);
  check_served(sizes, kernels, portfolio);
  CHECK(portfolio.kernels == std::vector<std::size_t>{1, 2, 4});
  CHECK(portfolio.ratio == doctest::Approx(std::cbrt(0.5 * 0.25 * 0.8)));
}

TEST_CASE("four sizes that each want a kernel have it, with the spec's own for all others") {
  std::vector<PortfolioSize> sizes;
  std::vector<PortfolioKernel> kernels{own(4)};
  for (std::size_t n = 0; n < 4; ++n) {
    sizes.push_back(size(static_cast<std::int64_t>(n)));
    PortfolioKernel& one = kernels.emplace_back();
    one.when = sizes.back().values;
    one.ratios = std::vector<double>(4, kNone);
    one.ratios[n] = 0.25;
  }
  const Portfolio portfolio = choose_portfolio(sizes, kernels, Objective::geomean);
  check_served(sizes, kernels, portfolio);
  CHECK(portfolio.kernels == std::vector<std::size_t>{1, 2, 3, 4, 0});
  CHECK(portfolio.ratio == doctest::Approx(0.25));
  // A general kernel of the run's is one of the four.
  kernels.push_back({.when = {}, .ratios = std::vector<double>(4, 0.5)});
  const Portfolio three = choose_portfolio(sizes, kernels, Objective::worst);
  check_served(sizes, kernels, three);
  CHECK(three.kernels.size() <= 5);
}

TEST_CASE("a kernel that slows a size below the floor does not serve it") {
  const std::vector<PortfolioSize> sizes{size(1), size(2)};
  const std::vector<PortfolioKernel> kernels{own(2), {{}, {0.1, 1.05}}, {{{"n", 1}}, {0.4, kNone}}};
  const Portfolio portfolio = choose_portfolio(sizes, kernels, Objective::geomean);
  check_served(sizes, kernels, portfolio);
  CHECK(portfolio.kernels == std::vector<std::size_t>{2, 0});
}

TEST_CASE("a guard is served above its floor and does not count otherwise") {
  std::vector<PortfolioSize> sizes{size(1), size(2, WorkloadRole::guard)};
  sizes[1].floor = 1;
  const std::vector<PortfolioKernel> kernels{own(2), {{}, {0.5, 1.01}}, {{}, {0.6, 0.99}}};
  const Portfolio portfolio = choose_portfolio(sizes, kernels, Objective::geomean);
  check_served(sizes, kernels, portfolio);
  CHECK(portfolio.kernels == std::vector<std::size_t>{2});
  CHECK(portfolio.ratio == doctest::Approx(0.6));
}

TEST_CASE("a kernel that gains next to nothing is left out") {
  const std::vector<PortfolioSize> sizes{size(1), size(2)};
  const std::vector<PortfolioKernel> kernels{
      own(2), {{}, {0.5, 0.5}}, {{{"n", 1}}, {0.495, kNone}}};
  CHECK(choose_portfolio(sizes, kernels, Objective::geomean).kernels ==
        std::vector<std::size_t>{1});
}

TEST_CASE("weights and long workloads count as the objective says") {
  std::vector<PortfolioSize> sizes{size(1), size(2)};
  sizes[1].baseline_ns = 1000;
  const std::vector<PortfolioKernel> kernels{own(2), {{}, {0.2, 0.9}}, {{}, {0.9, 0.5}}};
  CHECK(choose_portfolio(sizes, kernels, Objective::geomean).kernels.front() == 1);
  CHECK(choose_portfolio(sizes, kernels, Objective::weighted).kernels.front() == 2);
  CHECK(choose_portfolio(sizes, kernels, Objective::worst).kernels.front() == 1);
}

TEST_CASE("no list of that many kernels is better by more than a kernel must gain") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "portfolio", 0);
    std::vector<PortfolioSize> sizes;
    for (std::int64_t n = 0; n < 5; ++n) sizes.push_back(size(n));
    std::vector<PortfolioKernel> kernels{own(sizes.size())};
    for (int k = 0; k < 9; ++k) {
      PortfolioKernel& one = kernels.emplace_back();
      const auto n = static_cast<std::int64_t>(rng.below(7));
      if (n < 5) one.when = {{"n", n}};
      for (std::int64_t w = 0; w < 5; ++w)
        one.ratios.push_back(n < 5 && n != w ? kNone : 0.2 + rng.uniform());
    }
    const Portfolio chosen = choose_portfolio(sizes, kernels, Objective::geomean);
    check_served(sizes, kernels, chosen);
    // The best of any general kernel and, where they gain most, three others, or four beside the
    // spec's own.
    double least = 1;
    for (const PortfolioKernel& general : kernels) {
      if (!general.when.empty()) continue;
      double logs = 0;
      std::vector<double> gains;
      bool legal = true;
      for (std::size_t w = 0; w < sizes.size(); ++w) {
        double best = kNone;
        for (const PortfolioKernel& one : kernels) {
          if (!one.when.empty() && one.ratios[w] > 0 && !(best <= one.ratios[w]))
            best = one.ratios[w];
        }
        const bool below = 1 / general.ratios[w] < kPortfolioFloor;
        legal = legal && !below;  // a forced choice is left to the function
        logs += std::log(general.ratios[w]);
        gains.push_back(best > 0 ? std::max(0.0, std::log(general.ratios[w] / best)) : 0);
      }
      if (!legal) continue;
      std::ranges::sort(gains, std::greater<>());
      const std::size_t others = kMostPortfolioKernels - (&general == &kernels.front() ? 0 : 1);
      for (std::size_t i = 0; i < others; ++i) logs -= gains[i];
      least = std::min(least, std::exp(logs / static_cast<double>(sizes.size())));
    }
    CHECK(chosen.ratio * (1 - kLeastPortfolioGain) <= least + 1e-12);
  }
}

TEST_SUITE_END();
