#pragma once

#include "engine/portable/random.h"

namespace warpath {

/// A fill rule with its expressions evaluated: element i of the tensor follows from this and i
/// alone. Plain data, so that a device kernel takes it by value.
struct ElementRule {
  enum class Kind : int {
    constant,     ///< first
    ramp,         ///< first + second * (i mod row)
    normal,       ///< mean first, standard deviation second
    uniform,      ///< first + second * u, u in [0, 1)
    floor_uniform,  ///< the same rounded down
    random_bits,
    integer,      ///< base + floor(range * bits / 2^64); base where another u < skew
    permutation,  ///< of 0..row-1, another one in every row
  };
  Kind kind;
  DType dtype;
  portable::Word seed;
  portable::Word row;  ///< last dimension
  portable::Word base, range;
  double first, second, skew;
};

namespace portable {

/// `x`'s low bytes as an integer of `dtype`; a real type gets it as a signed number.
inline Word integer_element(DType dtype, Word x) {
  if (is_floating(dtype)) return element_of(dtype, static_cast<double>(static_cast<long long>(x)));
  if (dtype == DType::boolean) return x & 1U;
  const unsigned bits = 8 * width_of(dtype);
  return bits == 64 ? x : x & ((Word{1} << bits) - 1);
}

/// Element `i`, in the low bytes.
inline Word element(const ElementRule& rule, Word i) {
  switch (rule.kind) {
    case ElementRule::Kind::constant: return element_of(rule.dtype, rule.first);
    case ElementRule::Kind::ramp:
      return element_of(rule.dtype, rule.first + rule.second * static_cast<double>(i % rule.row));
    case ElementRule::Kind::normal: {
      const double u = unit(random_word(rule.seed, i)) + 0x1p-54;
      return element_of(rule.dtype, rule.first + rule.second * normal_quantile(u));
    }
    case ElementRule::Kind::uniform:
      return element_of(rule.dtype, rule.first + rule.second * unit(random_word(rule.seed, i)));
    case ElementRule::Kind::floor_uniform:
      return element_of(rule.dtype,
                        floor(rule.first + rule.second * unit(random_word(rule.seed, i))));
    case ElementRule::Kind::random_bits:
      return integer_element(rule.dtype, random_word(rule.seed, i));
    case ElementRule::Kind::integer: {
      const bool common = rule.skew > 0 && unit(random_word(rule.seed, i, 1)) < rule.skew;
      const Word above = common ? 0 : multiply_high(random_word(rule.seed, i), rule.range);
      return integer_element(rule.dtype, rule.base + above);
    }
    case ElementRule::Kind::permutation:
      return integer_element(rule.dtype, shuffled(i % rule.row, rule.row,
                                                  random_word(rule.seed, i / rule.row, 2)));
  }
  return 0;
}

}  // namespace portable
}  // namespace warpath
