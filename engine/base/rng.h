#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "engine/portable/random.h"

namespace warpath {

__extension__ using Product128 = unsigned __int128;  // g++ and clang support it

/// A random stream determined by hash(root seed, purpose, index): streams of different purposes are
/// independent of how much is drawn from each other. All distributions are implemented here, so
/// that results are the same with every standard library. (xoshiro256** by Blackman and Vigna 2018,
/// seeded by splitmix64.) Not thread-safe; pass by reference.
class Rng {
 public:
  Rng(std::uint64_t root_seed, std::string_view purpose, std::uint64_t index = 0);
  using State = std::array<std::uint64_t, 4>;
  /// Goes on where the stream with this state() was.
  explicit Rng(const State& state) : state_(state) {}
  [[nodiscard]] const State& state() const { return state_; }

  [[nodiscard]] std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t t = state_[1] << 17U;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }
  /// Uniform in [0, bound); bound >= 1. Unbiased (Lemire 2019).
  [[nodiscard]] std::uint64_t below(std::uint64_t bound) {
    for (;;) {
      const auto product = static_cast<Product128>(next()) * bound;
      const auto low = static_cast<std::uint64_t>(product);
      // 2^64 mod bound is below bound
      if (low >= bound || low >= (0 - bound) % bound)
        return static_cast<std::uint64_t>(product >> 64U);
    }
  }
  /// Uniform in [0, 1), 53 bits.
  [[nodiscard]] double uniform() { return static_cast<double>(next() >> 11U) * 0x1p-53; }
  /// Standard normal (polar method).
  [[nodiscard]] double normal();
  /// Gamma(shape, 1), shape > 0 (Marsaglia and Tsang 2000).
  [[nodiscard]] double gamma(double shape);
  /// Symmetric Dirichlet distribution with the given concentration; `out` sums to 1.
  void dirichlet(double concentration, std::span<double> out);
  /// A uniformly random permutation of 0..size-1.
  [[nodiscard]] std::vector<std::uint32_t> permutation(std::uint32_t size);

 private:
  State state_{};
};

/// splitmix64's finaliser: a bijective mix of 64 bits.
[[nodiscard]] constexpr std::uint64_t mix64(std::uint64_t x) {
  return portable::mix(x);
}

}  // namespace warpath
