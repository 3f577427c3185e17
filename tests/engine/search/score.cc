#include "engine/search/score.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/base/rng.h"

using namespace warpath;

TEST_SUITE_BEGIN("score");

namespace {

std::vector<double> times(std::size_t n, std::uint64_t seed) {
  Rng rng(seed, "times");
  std::vector<double> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(std::exp(rng.normal()));
  return out;
}

/// Mean over all subsets of `m` of the least element, by counting bits.
double expected_least(const std::vector<double>& values, int m) {
  double sum = 0;
  int count = 0;
  for (unsigned subset = 0; subset < 1U << values.size(); ++subset) {
    if (__builtin_popcount(subset) != m) continue;
    double least = INFINITY;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if ((subset >> i & 1U) != 0) least = std::min(least, values[i]);
    }
    sum += least;
    ++count;
  }
  return sum / count;
}

}  // namespace

TEST_CASE(
    "the baseline is the mean over all draws of that many points, invalid ones as bad as the "
    "worst") {
  std::vector<double> values = times(9, 1);
  const ScoreScale scale(values, 3);
  const double worst = *std::max_element(values.begin(), values.end());
  values.insert(values.end(), 3, worst);
  const std::vector<double> baseline = scale.baseline(12);
  for (int m = 1; m <= 12; ++m) {
    CAPTURE(m);
    CHECK(baseline[static_cast<std::size_t>(m - 1)] ==
          doctest::Approx(expected_least(values, m)).epsilon(1e-12));
  }
}

TEST_CASE(
    "uniform search scores 0 on the exact scale and above 0 in the published form; the optimum at "
    "once scores 1") {
  const std::vector<double> values = times(400, 2);
  const ScoreScale scale(values, 40);
  const std::uint64_t budget = 60;
  const std::vector<double> baseline = scale.baseline(budget);
  std::vector<double> all = values;
  all.insert(all.end(), 40, scale.worst());
  double sum = 0;
  std::vector<std::vector<double>> repeats;
  constexpr int kRuns = 3000;
  for (int run = 0; run < kRuns; ++run) {
    const auto order = Rng(3, "order", static_cast<std::uint64_t>(run))
                           .permutation(static_cast<std::uint32_t>(all.size()));
    std::vector<double> best;
    for (std::uint64_t i = 0; i < budget; ++i)
      best.push_back(std::min(best.empty() ? INFINITY : best.back(), all[order[i]]));
    sum += scale.score(best, baseline);
    if (run < 100) repeats.push_back(best);
  }
  CHECK(std::abs(sum / kRuns) < 0.03);
  CHECK(scale.published_score(repeats, budget) > 0.05);
  const std::vector<double> perfect(budget, scale.optimum());
  CHECK(scale.score(perfect, baseline) == doctest::Approx(1));
  CHECK(scale.published_score(std::vector(3, perfect), budget) == doctest::Approx(1));
}

TEST_CASE("the unit of time does not matter, and a search that stops early is held where it was") {
  std::vector<double> values = times(100, 4), scaled;
  for (const double v : values) scaled.push_back(v * 1000);
  const ScoreScale a(values, 5), b(scaled, 5);
  CHECK(a.budget() == b.budget());
  const std::vector<double> best{values[3], values[3]};
  const std::vector<double> more(10, values[3]);
  CHECK(a.score(best, a.baseline(10)) ==
        doctest::Approx(b.score(std::vector<double>{scaled[3]}, b.baseline(10))));
  CHECK(a.score(best, a.baseline(10)) == doctest::Approx(a.score(more, a.baseline(10))));
}

TEST_CASE("the budget follows the published formula") {
  std::vector<double> values;
  // median 150: 3 points within 5 % of the way
  for (int i = 0; i < 101; ++i) values.push_back(100 + i);
  CHECK(ScoreScale(values, 7).budget(0.95) == 25);  // ceil(98 / 4)
}

TEST_SUITE_END();
