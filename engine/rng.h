#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/portable/random.h"

namespace warpath {

/// A random stream = hash(root seed, purpose, index): two streams with different purposes never depend on
/// how much of the other was drawn. All draws are this file's own: the same on every standard library.
/// (xoshiro256** by Blackman and Vigna 2018, seeded by splitmix64.) Not thread-safe; pass by reference.
class Rng {
 public:
  Rng(std::uint64_t root_seed, std::string_view purpose, std::uint64_t index = 0);

  [[nodiscard]] std::uint64_t next();
  /// Uniform in [0, bound); bound >= 1. Unbiased (Lemire 2019).
  [[nodiscard]] std::uint64_t below(std::uint64_t bound);
  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] double uniform();
  /// Standard normal (polar method).
  [[nodiscard]] double normal();
  /// Gamma(shape, 1), shape > 0 (Marsaglia and Tsang 2000).
  [[nodiscard]] double gamma(double shape);
  /// Dirichlet with one concentration; `out` sums to 1.
  void dirichlet(double concentration, std::span<double> out);
  /// A uniformly random permutation of 0..size-1.
  [[nodiscard]] std::vector<std::uint32_t> permutation(std::uint32_t size);

 private:
  std::array<std::uint64_t, 4> state_{};
};

/// splitmix64's finaliser: a bijective mix of 64 bits.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) { return portable::mix(x); }

}  // namespace warpath
