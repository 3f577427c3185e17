#include "engine/base/rng.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "engine/base/gumbel.h"

using warpath::Rng;

TEST_SUITE_BEGIN("rng");

TEST_CASE("a stream is a function of seed, purpose and index") {
  CHECK(Rng(1, "select", 0).next() == Rng(1, "select", 0).next());
  CHECK(Rng(1, "select", 0).next() != Rng(2, "select", 0).next());
  CHECK(Rng(1, "select", 0).next() != Rng(1, "noise", 0).next());
  CHECK(Rng(1, "select", 0).next() != Rng(1, "select", 1).next());
}

TEST_CASE("below stays in range and reaches every value") {
  Rng rng(7, "test");
  for (const std::uint64_t bound : {1ULL, 2ULL, 3ULL, 10ULL}) {
    std::vector<int> seen(bound);
    for (int i = 0; i < 400; ++i) ++seen.at(rng.below(bound));
    CHECK(std::count(seen.begin(), seen.end(), 0) == 0);
  }
}

TEST_CASE("below rejects what lies under 2^64 mod bound and nothing else, so that it is unbiased") {
  __extension__ using Product = unsigned __int128;
  for (const std::uint64_t bound : {3ULL, 1ULL << 63U, (1ULL << 63U) + 1, 3ULL << 62U, ~0ULL}) {
    CAPTURE(bound);
    Rng rng(9, "test"), raw(9, "test");
    for (int i = 0; i < 200; ++i) {
      Product product = 0;
      do product = static_cast<Product>(raw.next()) * bound;
      while (static_cast<std::uint64_t>(product) < (0 - bound) % bound);
      CHECK(rng.below(bound) == static_cast<std::uint64_t>(product >> 64U));
    }
    CHECK(rng.next() == raw.next());
  }
}

TEST_CASE("normal and gamma have their mean and variance") {
  Rng rng(3, "test");
  const int n = 200000;
  double sum = 0, squares = 0, gamma_sum = 0, small_gamma_sum = 0;
  for (int i = 0; i < n; ++i) {
    const double x = rng.normal();
    sum += x;
    squares += x * x;
    gamma_sum += rng.gamma(2.5);
    small_gamma_sum += rng.gamma(0.3);
  }
  CHECK(std::abs(sum / n) < 0.01);
  CHECK(std::abs(squares / n - 1) < 0.02);
  CHECK(std::abs(gamma_sum / n - 2.5) < 0.03);
  CHECK(std::abs(small_gamma_sum / n - 0.3) < 0.01);
}

TEST_CASE("the bound on a Gumbel draw is never below it, nor far above where that is positive") {
  Rng rng(3, "test");
  std::vector<double> draws{0, 0x1p-53, 0.5, 1 - 0x1p-52, 1 - 0x1p-53};
  for (int i = 0; i < 100000; ++i) {
    const double u = rng.uniform(), near = std::ldexp(u, -static_cast<int>(rng.below(53)));
    draws.insert(draws.end(), {u, near, 1 - near});
  }
  std::erase(draws, 1.0);
  for (const double u : draws) {
    const double exact = warpath::gumbel_of(u), bound = warpath::gumbel_at_most(u);
    REQUIRE(bound >= exact);
    if (exact > 0 && std::isfinite(bound)) REQUIRE(bound <= exact + 0.5);
  }
}

TEST_CASE("dirichlet sums to one and permutation is one") {
  Rng rng(5, "test");
  std::vector<double> p(7);
  rng.dirichlet(0.3, p);
  CHECK(std::accumulate(p.begin(), p.end(), 0.0) == doctest::Approx(1));
  auto order = rng.permutation(9);
  std::sort(order.begin(), order.end());
  for (std::uint32_t i = 0; i < 9; ++i) CHECK(order[i] == i);
}

TEST_SUITE_END();
