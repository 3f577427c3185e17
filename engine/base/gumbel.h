#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "engine/base/rng.h"

namespace warpath {

/// The standard Gumbel distribution's quantile at `u` in [0, 1).
[[nodiscard]] inline double gumbel_of(double u) {
  return -std::log(-std::log(0.5 * 0x1p-53 + u));
}

/// An upper bound on gumbel_of(u), at most 0.5 above it where that is positive, at a fraction of
/// its cost: -log(u) is at least its series' first terms, and the logarithm of m 2^e, with m in [1,
/// 2), at least (e + m - 1) log(2), which a number's bits say.
[[nodiscard]] inline double gumbel_at_most(double u) {
  constexpr double kLn2 = 0.69314718055994530942;
  constexpr double kSlack = 1e-9;  // more than any of this is rounded by
  const double rest = 1 - (0.5 * 0x1p-53 + u);
  if (rest <= 0) return std::numeric_limits<double>::infinity();
  const double least = rest * (1 + rest * (0.5 + rest / 3));
  const auto bits = std::bit_cast<std::int64_t>(least) - std::bit_cast<std::int64_t>(1.0);
  return kSlack - kLn2 * 0x1p-52 * static_cast<double>(bits);
}

/// Draws from the standard Gumbel distribution (Gumbel 1954). The maximum of x_i + gumbel is at i
/// with probability proportional to e^x_i.
[[nodiscard]] inline double gumbel(Rng& rng) {
  return gumbel_of(rng.uniform());
}

}  // namespace warpath
