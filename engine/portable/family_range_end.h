#pragma once

#include "engine/portable/family_rule.h"
#include "engine/portable/random.h"

/// Input families near and at the ends of a type's range.
namespace warpath::portable {

/// A random number of a rule, common to all elements.
inline Word family_draw(const FamilyRule& rule, Word which, Word below) {
  return multiply_high(mix(rule.seed + 0x51ed2701ULL * (which + 1)), below);
}

/// The largest power of two that is not above `x`, a positive number.
inline double power_below(double x) {
  double power = 1;
  while (power > x && power > 0x1p-100) power *= 0.5;
  while (power * 2 <= x && power < 0x1p100) power *= 2;
  return power;
}

/// An element of one of the families near the ends of the range. Their two forms differ in the
/// exponent alone.
inline double range_end_value(const FamilyRule& rule, double own) {
  const DType type = rule.dtype;
  const bool wide = type == DType::f64, half = type == DType::f16, near_one = rule.form == 1;
  constexpr double kMost = 12;
  double steps = own / power_below(rule.scale);
  steps = steps > kMost ? kMost : steps >= -kMost ? steps : -kMost;
  const double square_fits = near_one ? 1
                             : wide   ? 0x1p500
                             : half   ? 0x1p5
                                      : 0x1p48,
               largest = near_one ? 1
                         : wide   ? 0x1p1010
                         : half   ? 0x1p12
                                  : 0x1p102;
  switch (rule.family) {
    case InputFamily::vast:
      return steps * square_fits;
    case InputFamily::lowest:
      return -(fabs(steps) + 1) * largest;
    case InputFamily::highest:
      return (fabs(steps) + 1) * largest;
    default: {
      constexpr double kEight = 8;
      const double least = near_one              ? 1 / kEight
                           : wide                ? 0x1p-1074
                           : half                ? 0x1p-24
                           : type == DType::bf16 ? 0x1p-133
                                                 : 0x1p-149;
      return floor(steps * kEight + 0.5) * least;
    }
  }
}

/// What InputFamily::bottom has for -infinity in its form 1: below all declared values. Half as
/// much stands for the least finite number.
inline double stand_in_for_bottom(DType type) {
  return type == DType::f16 ? -0x1p14 : -0x1p100;
}

inline double least_finite(DType type) {
  return type == DType::f64    ? -0x1.fffffffffffffp1023
         : type == DType::f16  ? -65504
         : type == DType::bf16 ? -0x1.fep127
                               : -0x1.fffffep127;
}

/// Element `i` of InputFamily::bottom. A line that is -infinity stands beside others: of equal
/// elements alone a mean is one of them, and would look like a selection.
inline double bottom_value(const FamilyRule& rule, Word i, double own) {
  constexpr Word kMany = 16, kBeside = 4, kKinds = 4, kOneOf = 4;
  const Word line = i / rule.row, lines = rule.elements / rule.row,
             kind = (line / (lines < kMany ? 1 : kBeside) + family_draw(rule, 7, kKinds)) % kKinds;
  const bool is_mixed = kind == 2 || (kind == 0 && lines == 1),
             is_low = is_mixed || kind == 0 || (kind == 1 && i % rule.row <= rule.row / 4);
  if (!is_low) return own;
  const double low = stand_in_for_bottom(rule.dtype);
  if (is_mixed && random_word(rule.seed, i, 3) % kOneOf == 0)
    return rule.form == 1 ? low / 2 : least_finite(rule.dtype);
  return rule.form == 1 ? low : double_of(0xfff0000000000000ULL);
}

/// True if element `i` is infinite in InputFamily::infinite_lines.
inline bool is_of_every_other_line(const FamilyRule& rule, Word i) {
  const Word line = i / rule.row, of_matrix = line % rule.lines, column = i % rule.row;
  const bool is_edge = (rule.lines > 2 && (of_matrix == 0 || of_matrix + 1 == rule.lines)) ||
                       (rule.finite_sides && (column == 0 || column + 1 == rule.row));
  return line % 2 != 0 && !is_edge;
}

/// True if element `i` lies in a line of InputFamily::few_infinite_lines.
inline bool is_of_few_lines(const FamilyRule& rule, Word i) {
  constexpr Word kOneOf = 16;
  const Word length = rule.row == rule.elements ? 1 : rule.row, line = i / length;
  return line == 0 || random_word(rule.seed, line, 9) % kOneOf == 0;
}

/// True if element `i` is the one of InputFamily::masked_infinities in its line, of long ones in
/// each 1024 elements.
inline bool is_one_of_line(const FamilyRule& rule, Word i) {
  constexpr Word kLong = 1024;
  const Word column = i % rule.row, part = column / kLong * kLong,
             length = rule.row - part < kLong ? rule.row - part : kLong;
  return column - part == multiply_high(random_word(rule.seed, i - column + part, 9), length);
}

}  // namespace warpath::portable
