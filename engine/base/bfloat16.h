#pragma once

#include <bit>
#include <cstdint>

namespace warpath {

/// A number in 16 bits: the upper half of a float, which is its sign, its exponent and 7 bits of
/// its fraction. Made by rounding to nearest, ties to even: off by at most 2^-8 of the number where
/// that is no subnormal; zero, infinities and powers of two are kept, and the order of numbers is.
class BFloat16 {
 public:
  constexpr BFloat16() = default;
  /// `number` is no NaN.
  constexpr explicit BFloat16(float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    bits_ = static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
  }
  [[nodiscard]] constexpr float value() const {
    return std::bit_cast<float>(std::uint32_t{bits_} << 16U);
  }

 private:
  std::uint16_t bits_ = 0;
};

}  // namespace warpath
