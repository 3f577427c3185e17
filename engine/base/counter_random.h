#pragma once

#include <array>
#include <cstdint>

namespace warpath {

/// Philox4x32-10 (Salmon et al. 2011): 128 random bits of `counter` under `key`.
[[nodiscard]] std::array<std::uint32_t, 4> philox4x32(std::array<std::uint32_t, 4> counter,
                                                      std::array<std::uint32_t, 2> key);

/// 64 random bits of element `i`: words 2*(i%2), low, and 2*(i%2)+1, high, of philox4x32({i/2 low,
/// i/2 high, stream, 0}, {seed low, seed high}).
[[nodiscard]] std::uint64_t random_bits(std::uint64_t seed,
                                        std::uint64_t i,
                                        std::uint32_t stream = 0);

/// The high 53 bits of `bits` as a number in [0, 1).
[[nodiscard]] constexpr double unit_interval(std::uint64_t bits) {
  return static_cast<double>(bits >> 11U) * 0x1p-53;
}

/// Natural logarithm of a positive normal number, within 1 ulp. Uses IEEE basic operations in a
/// fixed order, so that every processor gives the same bits without contraction (argument reduction
/// and series of Sun's fdlibm, e_log.c).
[[nodiscard]] double portable_log(double x);

/// Inverse of the standard normal distribution at p in (0, 1): PPND16 of AS241 (Wichura 1988),
/// relative error about 1e-16. Uses only IEEE basic operations, square root and portable_log.
[[nodiscard]] double inverse_normal(double p);

}  // namespace warpath
