#pragma once

#include <bit>
#include <cstdint>

namespace warpath {

/// A 16-bit floating-point number: the upper half of a float, with sign, exponent and 7 fraction
/// bits. Rounds to nearest, ties to even, with a relative error of at most 2^-8 except for
/// subnormals. Zero, infinities and powers of two are exact, and rounding is monotonic.
class BFloat16 {
 public:
  constexpr BFloat16() = default;
  /// `number` must not be NaN.
  constexpr explicit BFloat16(float number) {
    const auto bits = std::bit_cast<std::uint32_t>(number);
    bits_ = static_cast<std::uint16_t>((bits + 0x7FFFU + (bits >> 16U & 1U)) >> 16U);
  }
  [[nodiscard]] constexpr float value() const {
    return std::bit_cast<float>(std::uint32_t{bits_} << 16U);
  }
  /// Bit by bit: zeros of either sign differ.
  constexpr bool operator==(const BFloat16&) const = default;

 private:
  std::uint16_t bits_ = 0;
};

}  // namespace warpath
