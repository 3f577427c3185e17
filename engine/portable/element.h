#pragma once

#include "engine/portable/random.h"

namespace warpath {

/// A fill rule with its expressions evaluated: element i of the tensor is a function of this and i
/// alone. Plain data, so that a device kernel can take it by value.
struct ElementRule {
  enum class Kind : int {
    // Real numbers, rounded to the type:
    constant,       ///< first
    ramp,           ///< first + second * (i mod row)
    normal,         ///< mean first, standard deviation second
    uniform,        ///< first + second * u, u in [0, 1)
    floor_uniform,  ///< the same rounded down
    // Integers, stored by their low bytes:
    random_bits,
    integer,      ///< base + floor(range * bits / 2^64); base where another u < skew
    permutation,  ///< of 0..row-1, a different one in every row
  };
  Kind kind;
  DType dtype;
  portable::Word seed;
  portable::Word row;  ///< last dimension
  portable::Word base, range;
  double first, second, skew;
};

namespace portable {

/// `x`'s low bytes as an integer of `dtype`; for a real type as a signed number.
inline Word integer_element(DType dtype, Word x) {
  if (is_floating(dtype)) return element_of(dtype, static_cast<double>(static_cast<long long>(x)));
  if (dtype == DType::boolean) return x & 1U;
  const unsigned bits = 8 * width_of(dtype);
  return bits == 64 ? x : x & ((Word{1} << bits) - 1);
}

/// Element `i` of a rule for real numbers.
inline double real_value(const ElementRule& rule, Word i) {
  switch (rule.kind) {
    case ElementRule::Kind::constant:
      return rule.first;
    case ElementRule::Kind::ramp:
      return rule.first + rule.second * static_cast<double>(i % rule.row);
    default:
      break;
  }
  const double u = unit(random_word(rule.seed, i));
  if (rule.kind == ElementRule::Kind::normal) {
    return rule.first + rule.second * normal_quantile(u + 0x1p-54);
  }
  const double x = rule.first + rule.second * u;
  return rule.kind == ElementRule::Kind::floor_uniform ? floor(x) : x;
}

/// Element `i` of any other rule.
inline Word integer_value(const ElementRule& rule, Word i) {
  if (rule.kind == ElementRule::Kind::permutation) {
    return shuffled(i % rule.row, rule.row, random_word(rule.seed, i / rule.row, 2));
  }
  const Word bits = random_word(rule.seed, i);
  if (rule.kind == ElementRule::Kind::random_bits) return bits;
  const bool common = rule.skew > 0 && unit(random_word(rule.seed, i, 1)) < rule.skew;
  return common ? rule.base : rule.base + multiply_high(bits, rule.range);
}

/// Element `i`, in the low bytes.
inline Word element(const ElementRule& rule, Word i) {
  return rule.kind < ElementRule::Kind::random_bits
             ? element_of(rule.dtype, real_value(rule, i))
             : integer_element(rule.dtype, integer_value(rule, i));
}

}  // namespace portable
}  // namespace warpath
