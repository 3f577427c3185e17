#pragma once

#include "engine/portable/family.h"

/// Input families of 64-bit integers, whose values a double does not hold; bit-identical on host
/// and device.
namespace warpath::portable {

/// True if elements are changed by family_word(), not by family_value().
inline bool is_wide_integer(const FamilyRule& rule) {
  return rule.holds_all && width_of(rule.dtype) == 8;
}

/// Element `i` of InputFamily::extremes.
inline Word extreme_word(const FamilyRule& rule, Word i, Word own) {
  const Word bits = random_word(rule.seed, i, 3);
  const bool has_sign = is_signed(rule.dtype);
  const Word least = has_sign ? Word{1} << 63 : 0, greatest = ~least;
  if (form_of(rule) == 3) {
    const Word lost = lost_bits(rule, i, 64), fill = own >> 63 != 0 && has_sign ? ~Word{0} : 0;
    if (bits % 8 == 0) return Word{1} << (63 - lost);
    return lost == 0 ? own : fill << (64 - lost) | own >> lost;
  }
  switch (bits % 16) {
    case 0:
    case 1:
      return least;
    case 2:
    case 3:
      return greatest;
    case 4:
      return least + 1;
    case 5:
      return greatest - 1;
    case 6:
      return 0;
    case 7:
      return has_sign ? ~Word{0} : 1;
    case 8:
      return Word{1} << bits / 16 % 64;
    case 9:
      return (Word{1} << bits / 16 % 64) - 1;
    default:
      return own;
  }
}

/// The new value of element `i` with value `own`. `source`: the own value of element
/// family_source(rule, i). InputFamily::constant takes its upper half alone, so that the lower one
/// decides.
inline Word family_word(const FamilyRule& rule, Word i, Word own, Word source) {
  if (is_odd(rule, i)) return own;
  const Word least = is_signed(rule.dtype) ? Word{1} << 63 : 0;
  if (rule.family == InputFamily::extremes) return extreme_word(rule, i, own);
  if (rule.family == InputFamily::alike) {
    const Word common = random_word(rule.common_seed, alike_place(rule, i), 3);
    return form_of(rule) == 1 ? ~common : common;
  }
  if (rule.family == InputFamily::constant) return source >> 32 << 32 | own << 32 >> 32;
  if (rule.family == InputFamily::one_value) {
    const int form = form_of(rule);
    return form == 0   ? source
           : form == 1 ? 0
           : form == 2 ? least
           : form == 3 ? ~least
                       : 0x8888888888888888ULL;
  }
  if (rule.family == InputFamily::at_most_zero || rule.family == InputFamily::at_least_zero)
    return (own >> 63 != 0) == (rule.family == InputFamily::at_most_zero) ? own : ~own;
  // what becomes of stand-ins for the two values
  const double kept = family_value(rule, i, 1, 2);
  return kept == 0 ? 0 : kept == 2 ? source : own;
}

/// True where a kernel that samples a line evenly looks at it: at its ends and at each quarter, of
/// longer ones eighth.
inline bool is_even_sample(const FamilyRule& rule, Word i) {
  constexpr Word kLong = 64;
  const Word column = i % rule.row, parts = rule.row < kLong ? 4 : 8;
  for (Word part = 0; part <= parts; ++part) {
    if (column == rule.row * part / parts || column == (rule.row - 1) * part / parts) return true;
  }
  return false;
}

/// A random element that the rule's family changes and that no other one reads, for use as `odd`.
/// In the second half of the tensor if there is one, so that inspecting the first half does not
/// find it, and where even samples of lines do not look if there is such a place. kNoElement if
/// none is found. `rule.odd` must be kNoElement.
inline Word odd_element(const FamilyRule& rule, Word draw) {
  constexpr double kOwn = 2.5, kOther = 3.5;
  constexpr Word kOwnWord = 0x200000005, kOtherWord = 0x300000007;
  for (Word k = 0; k < 512 && rule.elements > 0; ++k) {
    const Word first = k < 256 ? rule.elements / 2 : 0;
    const Word i = first + multiply_high(mix(draw + k), rule.elements - first);
    if (k < 128 && is_even_sample(rule, i)) continue;
    const Word source = family_source(rule, i);
    const bool changes =
        is_wide_integer(rule)
            ? family_word(rule, i, kOwnWord, source == i ? kOwnWord : kOtherWord) != kOwnWord
            : family_value(rule, i, kOwn, source == i ? kOwn : kOther) != kOwn;
    if (changes) return i;
  }
  return kNoElement;
}

}  // namespace warpath::portable
