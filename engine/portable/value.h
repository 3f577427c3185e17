#pragma once

#include <cmath>

/// Element types and their rounding. The headers of this folder are compiled both for the host and,
/// at run time, for a device. They use built-in types and IEEE basic operations in a fixed order,
/// so that both give the same bits without contraction of products into additions.
namespace warpath {

/// Element types of tensors and scalars; engine/base/dtype.h names them.
enum class DType : unsigned char {
  f64,
  f32,
  f16,
  bf16,
  i64,
  i32,
  i16,
  i8,
  u64,
  u32,
  u16,
  u8,
  boolean
};

namespace portable {

using Word = unsigned long long;  ///< 64 bits
using Half = unsigned short;      ///< 16 bits
using Bits = unsigned int;        ///< 32 bits

inline Word bits_of(double x) {
  return __builtin_bit_cast(Word, x);
}
inline Bits bits_of(float x) {
  return __builtin_bit_cast(Bits, x);
}
inline double double_of(Word bits) {
  return __builtin_bit_cast(double, bits);
}
inline float float_of(Bits bits) {
  return __builtin_bit_cast(float, bits);
}

inline bool is_floating(DType dtype) {
  return dtype <= DType::bf16;
}
inline bool is_signed(DType dtype) {
  return dtype <= DType::i8;
}

/// Bytes of one element.
inline unsigned width_of(DType dtype) {
  switch (dtype) {
    case DType::f64:
    case DType::i64:
    case DType::u64:
      return 8;
    case DType::f32:
    case DType::i32:
    case DType::u32:
      return 4;
    case DType::f16:
    case DType::bf16:
    case DType::i16:
    case DType::u16:
      return 2;
    case DType::i8:
    case DType::u8:
    case DType::boolean:
      return 1;
  }
  return 1;
}

inline bool is_nan(double x) {
  return x != x;
}
inline bool is_finite(double x) {
  return (bits_of(x) & 0x7ff0000000000000ULL) != 0x7ff0000000000000ULL;
}

/// `x` without its low `bits` bits, rounded to nearest even, as the remaining high bits.
inline Bits round_off(Bits x, unsigned bits) {
  const Bits half = 1U << (bits - 1);
  const Bits odd = x >> bits & 1U;
  return (x + (half - 1) + odd) >> bits;
}

/// IEEE binary16, round to nearest even; NaN stays NaN.
inline Half half_of(float value) {
  const Bits bits = bits_of(value);
  const Bits sign = bits >> 16U & 0x8000U;
  const Bits magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<Half>(sign | 0x7e00U);
  if (magnitude >= 0x477ff000U) return static_cast<Half>(sign | 0x7c00U);  // >= 65520: infinity
  if (magnitude >= 0x38800000U) {                                          // normal: >= 2^-14
    return static_cast<Half>(sign | round_off(magnitude - 0x38000000U, 13));
  }
  // Below 2^-25 zero; 2^-25 itself is a tie, to even = zero.
  if (magnitude < 0x33000000U) return static_cast<Half>(sign);
  const Bits mantissa = (magnitude & 0x7fffffU) | 0x800000U;
  const unsigned shift = 126U - (magnitude >> 23U);  // the subnormal's unit is 2^-24
  return static_cast<Half>(sign | round_off(mantissa, shift));
}

inline float float_of_half(Half half) {
  const Bits sign = (half & 0x8000U) << 16U;
  const Bits exponent = half >> 10U & 0x1fU;
  const Bits mantissa = half & 0x3ffU;
  if (exponent == 0) return float_of(sign | bits_of(static_cast<float>(mantissa) * 0x1p-24F));
  if (exponent == 0x1f) return float_of(sign | 0x7f800000U | mantissa << 13U);
  return float_of(sign | (exponent + 112U) << 23U | mantissa << 13U);
}

/// bfloat16, round to nearest even; NaN stays NaN.
inline Half bfloat16_of(float value) {
  const Bits bits = bits_of(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<Half>(bits >> 16U | 0x40U);
  return static_cast<Half>(round_off(bits, 16));
}

inline float float_of_bfloat16(Half brain) {
  return float_of(static_cast<Bits>(brain) << 16U);
}

/// To nearest even. A NaN keeps its sign and the high bits of its payload: what processors do
/// with a NaN differs.
inline float narrow(double value) {
  if (!is_nan(value)) return static_cast<float>(value);
  const Word bits = bits_of(value);
  return float_of(static_cast<Bits>(bits >> 32U & 0x80000000U) | 0x7fc00000U |
                  static_cast<Bits>(bits >> 29U & 0x3fffffU));
}

/// To float by "round to odd", so that a second rounding to 16 bits gives a correctly rounded
/// result.
inline float narrow_to_odd(double value) {
  const float near = narrow(value);
  const Bits bits = bits_of(near);
  if ((bits & 0x7f800000U) == 0x7f800000U || (bits & 1U) != 0) return near;
  const double back = static_cast<double>(near);
  if (back == value) return near;
  return float_of(fabs(back) > fabs(value) ? bits - 1 : bits + 1);
}

/// To nearest even, NaN to 0, saturating; the integer's low bytes.
inline Word integer_bits(DType dtype, double value) {
  if (is_nan(value)) return 0;
  const double rounded = rint(value);
  const unsigned bits = 8 * width_of(dtype);
  const Word top = Word{1} << (bits - 1);
  const double limit = static_cast<double>(top);
  if (is_signed(dtype)) {
    if (rounded <= -limit) return top;
    if (rounded >= limit - 1) return top - 1;  // 2^63 - 1 rounds to 2^63
    return static_cast<Word>(static_cast<long long>(rounded)) & (top | (top - 1));
  }
  if (rounded <= 0) return 0;
  if (rounded >= 2 * limit - 1) return top | (top - 1);
  return static_cast<Word>(rounded);
}

/// `value` rounded to `dtype`, in the low bytes.
inline Word element_of(DType dtype, double value) {
  switch (dtype) {
    case DType::f64:
      return bits_of(value);
    case DType::f32:
      return bits_of(narrow(value));
    case DType::f16:
      return half_of(narrow_to_odd(value));
    case DType::bf16:
      return bfloat16_of(narrow_to_odd(value));
    case DType::boolean:
      return value != 0 ? 1 : 0;
    default:
      return integer_bits(dtype, value);
  }
}

/// The value of an element whose low bytes are `bits`, the others zero. 64-bit integers beyond
/// 2^53 lose low bits.
inline double value_of(DType dtype, Word bits) {
  switch (dtype) {
    case DType::f64:
      return double_of(bits);
    case DType::f32:
      return static_cast<double>(float_of(static_cast<Bits>(bits)));
    case DType::f16:
      return static_cast<double>(float_of_half(static_cast<Half>(bits)));
    case DType::bf16:
      return static_cast<double>(float_of_bfloat16(static_cast<Half>(bits)));
    case DType::i64:
      return static_cast<double>(static_cast<long long>(bits));
    case DType::i32:
      return static_cast<int>(bits);
    case DType::i16:
      return static_cast<short>(bits);
    case DType::i8:
      return static_cast<signed char>(bits);
    case DType::u64:
      return static_cast<double>(bits);
    default:
      return static_cast<double>(static_cast<Bits>(bits));
  }
}

}  // namespace portable
}  // namespace warpath
