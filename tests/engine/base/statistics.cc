#include "engine/base/statistics.h"

#include <doctest/doctest.h>

#include <cmath>
#include <vector>

#include "engine/base/rng.h"

using namespace warpath;
using doctest::Approx;

TEST_SUITE_BEGIN("statistics");

TEST_CASE("Welford's mean and deviation are those of two passes") {
  Rng rng(1, "samples");
  Welford running;
  std::vector<double> samples;
  for (int i = 0; i < 1000; ++i) {
    // a large offset: the naive sum of squares would lose the variance
    samples.push_back(1e6 + rng.normal());
    running.add(samples.back());
  }
  double sum = 0, squares = 0;
  for (const double x : samples) sum += x;
  const double mean = sum / 1000;
  for (const double x : samples) squares += (x - mean) * (x - mean);
  CHECK(running.count == 1000);
  CHECK(running.mean == Approx(mean).epsilon(1e-12));
  CHECK(running.deviation() == Approx(std::sqrt(squares / 999)).epsilon(1e-9));
}

TEST_CASE("fewer than two samples have no deviation") {
  Welford running;
  CHECK(running.deviation() == 0);
  running.add(5);
  CHECK(running.deviation() == 0);
  CHECK(running.mean == 5);
}

TEST_CASE("quantiles interpolate between order statistics") {
  const std::vector<double> samples{4, 1, 3, 2};
  CHECK(quantile(samples, 0) == 1);
  CHECK(quantile(samples, 1) == 4);
  CHECK(median(samples) == 2.5);
  CHECK(quantile(samples, 1.0 / 3) == Approx(2));
  CHECK(quantile(samples, -1) == 1);
  CHECK(median(std::vector<double>{7}) == 7);
  CHECK(std::isnan(median({})));
}

TEST_CASE("the bootstrap interval covers the median as often as it says") {
  int covered = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "samples");
    std::vector<double> samples(31);
    for (double& x : samples) x = rng.normal();
    const Interval i = bootstrap_median(samples, 0.9, 300, seed);
    CHECK(i.low <= median(samples));
    CHECK(median(samples) <= i.high);
    covered += i.low <= 0 && 0 <= i.high ? 1 : 0;
  }
  CHECK(covered >= 165);
  CHECK(covered <= 198);
}

TEST_CASE("the bootstrap interval is a function of its seed") {
  const std::vector<double> samples{1, 2, 4, 8, 16, 32, 64};
  const Interval a = bootstrap_median(samples, 0.95, 500, 1);
  const Interval b = bootstrap_median(samples, 0.95, 500, 1);
  CHECK(a.low == b.low);
  CHECK(a.high == b.high);
  CHECK(std::isnan(bootstrap_median({}, 0.95, 100, 1).low));
}

TEST_CASE("the trimmed mean counts kinds by how often they come, and a few outliers not at all") {
  CHECK(trimmed_mean(std::vector<double>{3, 1, 2}) == doctest::Approx(2));
  CHECK(std::isnan(trimmed_mean({})));
  std::vector<double> samples(16, 1.0);
  samples[3] = 1000;
  samples[9] = 0.001;
  CHECK(trimmed_mean(samples) == doctest::Approx(1));
  for (std::size_t i = 0; i < samples.size(); ++i) samples[i] = i % 2 == 0 ? 1.0 : 2.0;
  CHECK(trimmed_mean(samples) == doctest::Approx(1.5));
}

TEST_CASE("the bootstrap interval covers the trimmed mean of two kinds as often as it says") {
  int covered = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    Rng rng(seed, "kinds");
    std::vector<double> samples(40);
    for (double& x : samples) x = (rng.uniform() < 0.5 ? 1 : 2) + 0.01 * rng.normal();
    const Interval i = bootstrap_trimmed_mean(samples, 0.9, 300, seed);
    covered += i.low <= 1.5 && 1.5 <= i.high ? 1 : 0;
  }
  CHECK(covered >= 165);
  CHECK(covered <= 198);
}

TEST_CASE(
    "two states of a machine are two humps; noise, a few stray samples and a small step are not") {
  for (std::uint64_t seed = 1; seed <= 50; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "humps");
    const auto drawn = [&](int count, auto&& state) {
      std::vector<double> out;
      for (int i = 0; i < count; ++i) out.push_back(state(i) * (1 + 0.01 * rng.normal()));
      return out;
    };
    for (const int count : {20, 200}) {
      CAPTURE(count);
      CHECK(two_humps(drawn(count, [](int i) { return i % 4 == 0 ? 2.0 : 1.0; })));
      CHECK(two_humps(drawn(count, [count](int i) { return i > count / 2 ? 1.2 : 1.0; })));
      CHECK_FALSE(two_humps(drawn(count, [](int) { return 1.0; })));
      CHECK_FALSE(two_humps(drawn(count, [](int i) { return i % 10 == 3 ? 3.0 : 1.0; })));
      CHECK_FALSE(two_humps(drawn(count, [](int i) { return i % 2 == 0 ? 1.02 : 1.0; })));
    }
  }
  std::vector<double> wide;
  for (int i = 0; i < 100; ++i) wide.push_back(1 + 0.01 * i);
  CHECK_FALSE(two_humps(wide));
  CHECK_FALSE(two_humps(std::vector<double>{1, 2, 1, 2, 1, 2, 1}));
  CHECK_FALSE(two_humps({}));
}

TEST_CASE("intervals hold the mean, tests see a difference, and Holm raises p in order") {
  Rng rng(5, "groups");
  std::vector<std::vector<double>> apart(3), same(3);
  for (std::size_t g = 0; g < 3; ++g) {
    for (int i = 0; i < 40; ++i) {
      apart[g].push_back(0.5 + rng.normal());
      same[g].push_back(rng.normal());
    }
  }
  const Interval interval = bootstrap_mean(apart, 0.95, 1000, 1);
  CHECK(interval.low > 0);
  CHECK(interval.high < 1);
  CHECK(sign_flip_p(apart, 1000, 1) < 0.01);
  CHECK(sign_flip_p(same, 1000, 1) > 0.01);
  CHECK(holm(std::vector<double>{0.04, 0.01, 0.03}) == std::vector<double>{0.06, 0.03, 0.06});
}

TEST_CASE("means: none of nothing, by weight, and the middle of samples") {
  CHECK(std::isnan(mean({})));
  CHECK(mean(std::vector<double>{1, 2, 6}) == 3);
  WeightedMean weighted;
  CHECK(std::isnan(weighted.value()));
  weighted.add(1, 3);
  weighted.add(5, 1);
  CHECK(weighted.value() == 2);
  const Interval middle = percentile_interval(std::vector<double>{4, 0, 1, 3, 2}, 0.5);
  CHECK(middle.low == 1);
  CHECK(middle.high == 3);
  CHECK(exponential({0, 1}).high == doctest::Approx(2.718281828));
  CHECK(median_half_width(std::vector<double>{9, 10, 11}) == doctest::Approx(0.1));
}

TEST_SUITE_END();
