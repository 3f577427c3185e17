#include "engine/dtype.h"

#include <bit>

namespace warpath {
namespace {

constexpr std::uint32_t kInfinity = 0x7f800000U;

/// `x` without its low `bits` bits, rounded to nearest even, as the remaining high bits.
constexpr std::uint32_t round_off(std::uint32_t x, unsigned bits) {
  const std::uint32_t half = 1U << (bits - 1);
  const std::uint32_t odd = x >> bits & 1U;
  return (x + (half - 1) + odd) >> bits;
}

}  // namespace

std::uint16_t float_to_half(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16U & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > kInfinity) return static_cast<std::uint16_t>(sign | 0x7e00U);
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U);  // >= 65520 rounds to infinity
  if (magnitude >= 0x38800000U) {                                                    // normal in binary16: >= 2^-14
    return static_cast<std::uint16_t>(sign | round_off(magnitude - 0x38000000U, 13));
  }
  if (magnitude < 0x33000000U) return sign;  // < 2^-25 rounds to zero; 2^-25 itself is a tie, to even = zero
  const std::uint32_t mantissa = (magnitude & 0x7fffffU) | 0x800000U;
  const unsigned shift = 126U - (magnitude >> 23U);  // the subnormal's unit is 2^-24
  return static_cast<std::uint16_t>(sign | round_off(mantissa, shift));
}

float half_to_float(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16U;
  const std::uint32_t exponent = bits >> 10U & 0x1fU;
  const std::uint32_t mantissa = bits & 0x3ffU;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(mantissa) * 0x1p-24F;
    return std::bit_cast<float>(sign | std::bit_cast<std::uint32_t>(magnitude));
  }
  if (exponent == 0x1f) return std::bit_cast<float>(sign | kInfinity | mantissa << 13U);
  return std::bit_cast<float>(sign | (exponent + 112U) << 23U | mantissa << 13U);
}

std::uint16_t float_to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > kInfinity) return static_cast<std::uint16_t>(bits >> 16U | 0x40U);
  return static_cast<std::uint16_t>(round_off(bits, 16));
}

float bfloat16_to_float(std::uint16_t bits) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16U);
}

}  // namespace warpath
