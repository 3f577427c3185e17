#pragma once

#include "engine/portable/family_comparisons.h"
#include "engine/portable/family_integers.h"
#include "engine/portable/family_range_end.h"
#include "engine/portable/family_rule.h"
#include "engine/portable/family_structure.h"
#include "engine/portable/nudge.h"
#include "engine/portable/random.h"

/// Input families: values other than the declared ones, element by element, bit-identical on host
/// and device.
namespace warpath {

namespace portable {

/// InputFamily::huge multiplies the declared values by 2 to this power.
inline int huge_exponent(DType dtype) {
  return width_of(dtype) == 2 ? 4 : 10;
}

/// Of InputFamily::outlier.
inline double outlier_factor(DType dtype) {
  return width_of(dtype) == 2 ? 0x1p4 : 0x1p28;
}

/// Approximate factor by which values of a family may exceed those of the declared rule.
inline double family_growth(InputFamily family, DType dtype) {
  switch (family) {
    case InputFamily::huge:
    case InputFamily::rare_outliers:
      return static_cast<double>(1 << huge_exponent(dtype));
    case InputFamily::heavy_tail:
    case InputFamily::shifted:
      return 1000;
    case InputFamily::far_below:
    case InputFamily::far_above:
      return width_of(dtype) == 2 ? 1000 : 0x1p17;
    case InputFamily::far_apart:
      return 0x1p7;
    case InputFamily::halves:
      return 0x1p8;
    case InputFamily::far_offset:
      return 100;
    case InputFamily::offset:
    case InputFamily::peaked:
    case InputFamily::opposed:
    case InputFamily::other_scalars:
    case InputFamily::lined_up:
      return 16;
    default:
      return 1;
  }
}

/// True if element `i` of InputFamily::not_a_number is NaN.
inline bool is_missing(const FamilyRule& rule, Word i) {
  constexpr Word kFew = 64;
  if (rule.form == 1) return true;
  const Word kind = i / rule.row % 4;
  return kind == 0   ? random_word(rule.seed, i, 3) % kFew == 0
         : kind == 1 ? i % rule.row == 0
                     : kind == 2;
}

/// Of InputFamily::lone, where a line keeps its value. Not the first of numbers: differences from
/// that one are then all alike, and lose what their squares would tell.
inline Word lone_column(const FamilyRule& rule, Word i) {
  const Word first = is_floating(rule.dtype) && rule.row > 1 ? 1 : 0;
  return first + multiply_high(random_word(rule.seed, i / rule.row, 9), rule.row - first);
}

/// The exception to a line of InputFamily::ascending: greater than all in it, or less.
inline double beyond_all(const FamilyRule& rule, Word i) {
  const bool above = i / rule.row % 2 == 0;
  const double x = is_floating(rule.dtype) ? (above ? 1.5 : -1.5) * rule.scale
                   : above                 ? rule.greatest
                                           : rule.least;
  return rule.nonnegative && x < 0 ? 0 : x;
}

/// How far an ascending line has come at `share` of its length: evenly in the first line, sooner or
/// later in others, so that where a line of zeros and ones changes is not the same everywhere.
inline double progress(const FamilyRule& rule, Word i, double share) {
  const Word line = i / rule.row, kind = line == 0 ? 0 : random_word(rule.seed, line, 12) % 6;
  double out = kind > 2 ? sqrt(share) : share;
  if (kind % 3 == 1) out *= share;
  if (kind % 3 == 2) out = sqrt(out);
  return out;
}

/// As family_value() of a rule without exceptions and bounds.
inline double regular_value(const FamilyRule& rule, Word i, double own, double source) {
  const bool is_counted = rule.family == InputFamily::identity && !is_floating(rule.dtype);
  const bool narrow = width_of(rule.dtype) == 2;
  const Word bits = random_word(rule.seed, i, 3);
  const double sign = (bits & 1U) != 0 ? -1 : 1;
  const Word column = i % rule.row, line = i / rule.row % rule.lines;
  double x = own;
  switch (rule.family) {
    case InputFamily::as_declared:
      return own;
    case InputFamily::tiny:
      x = own * (narrow ? 0x1p-6 : 0x1p-20);
      break;
    case InputFamily::huge:
      x = own * (1 << huge_exponent(rule.dtype));
      break;
    case InputFamily::shifted:
      x = own + 1000 * rule.scale;
      break;
    case InputFamily::constant:
    case InputFamily::repeated_tile:
      x = source;
      break;
    case InputFamily::half_copy:
      x = form_of(rule) < 4 || column > line ? source : column < line ? -source : 0;
      break;
    case InputFamily::sparse:
      x = unit(bits) < 0.9 ? 0 : own;
      break;
    case InputFamily::heavy_tail:
      x = own / sqrt(unit(bits) + 0x1p-54);
      break;
    case InputFamily::small_integers:
      x = static_cast<double>(static_cast<int>(multiply_high(bits, 3)) - 1);
      break;
    case InputFamily::mantissa: {
      const bool wide = rule.dtype == DType::f64;
      const double fraction = wide ? static_cast<double>(bits >> 12U) * 0x1p-52
                                   : static_cast<double>(bits >> 41U) * 0x1p-23;
      x = sign * (1 + fraction);
      break;
    }
    case InputFamily::cancellation: {
      const bool odd = (column + i / rule.row) % 2 != 0;
      x = (odd ? -1 : 1) * (1 + unit(bits) * 0x1p-10) * rule.scale;
      break;
    }
    case InputFamily::sorted_ties:
      // NOLINTNEXTLINE(bugprone-integer-division): eight steps
      x = (static_cast<double>(column * 8 / rule.row) - 3) * 0.5 * rule.scale;
      break;
    case InputFamily::rare_outliers: {
      const Word quiet = rule.elements > 8192 ? 4096 : rule.elements / 2;
      if (i >= quiet && unit(bits) < 0x1p-10) x = own * (narrow ? 0x1p4 : 0x1p10);
      break;
    }
    case InputFamily::specials: {
      const Word kind = multiply_high(bits, 1U << 16U) / 32;
      if (kind == 1) x = double_of(0x7ff0000000000000ULL);
      if (kind == 2) x = -0.0;
      if (kind == 3) x = own * 0x1p-126 * 0x1p-10;
      break;
    }
    case InputFamily::offset:
      x = own + 10 * rule.scale;
      break;
    case InputFamily::far_offset:
      x = own + 100 * rule.scale;
      break;
    case InputFamily::unit_row:
      if (i < rule.row) x = i == 0 ? 1 : 0;
      break;
    case InputFamily::far_below:
      x = own - (narrow ? 1000 : 0x1p17) * rule.scale;
      break;
    case InputFamily::faint:
      x = own * (narrow ? 0x1p-10 : 0x1p-40);
      break;
    case InputFamily::opposed:
      x = own + (rule.form % 2 == 0 ? 10 : -10) * rule.scale;
      break;
    case InputFamily::far_apart:
      x = (rule.form % 2 == 0 ? 1 : -1) * family_growth(rule.family, rule.dtype) * rule.scale;
      break;
    case InputFamily::peaked:
      if (column == multiply_high(random_word(rule.seed, i / rule.row, 9), rule.row)) {
        const double height =
            i / rule.row % 2 == 0 ? 16 : 4 + 12 * unit(random_word(rule.seed, i / rule.row, 10));
        x = own + height * rule.scale;
      }
      break;
    case InputFamily::far_above:
      x = own + (narrow ? 1000 : 0x1p17) * rule.scale;
      break;
    case InputFamily::at_most_zero:
    case InputFamily::at_least_zero:
      if (!is_floating(rule.dtype))
        return (own < 0) == (rule.family == InputFamily::at_most_zero) ? own : -1 - own;
      x = rule.family == InputFamily::at_most_zero ? -fabs(own) : fabs(own);
      if (bits % 8 < 2) x = bits % 8 == 0 ? 0 : -0.0;
      break;
    case InputFamily::coarse:
      x = coarse_value(rule, i, own);
      break;
    case InputFamily::lone:
      if (column != lone_column(rule, i))
        x = 0;
      else if (own == 0 && !is_floating(rule.dtype))
        x = rule.greatest;
      break;
    case InputFamily::extremes:
      x = extreme_value(rule, i, own);
      break;
    case InputFamily::vast:
    case InputFamily::lowest:
    case InputFamily::highest:
    case InputFamily::subnormal:
      x = range_end_value(rule, own);
      break;
    case InputFamily::bottom:
      return rule.nonnegative ? own : bottom_value(rule, i, own);
    case InputFamily::infinite_lines:
      if (rule.form == 0 && is_of_every_other_line(rule, i)) x = double_of(0x7ff0000000000000ULL);
      break;
    case InputFamily::few_infinite_lines:
      if (rule.form == 0 && is_of_few_lines(rule, i)) x = double_of(0x7ff0000000000000ULL);
      break;
    case InputFamily::masked_infinities:
      if (rule.form == 0 && is_one_of_line(rule, i)) x = double_of(0x7ff0000000000000ULL);
      break;
    case InputFamily::halves:
      x = halves_value(rule, i);
      break;
    case InputFamily::adjacent:
      x = (i / rule.row % 2 == 0 ? -1 : 1) *
          (1 + nudge_step(rule.dtype) * static_cast<double>(bits % 8));
      break;
    case InputFamily::not_a_number:
      if (is_missing(rule, i)) x = double_of(0x7ff8000000000000ULL);
      break;
    case InputFamily::outlier:
      if (rule.form == 0 && is_one_of_line(rule, i)) x = own * outlier_factor(rule.dtype);
      break;
    case InputFamily::lined_up: {
      constexpr Word kOf = 8;
      Word apart = 1;
      while (apart * 2 * kOf <= rule.row) apart *= 2;
      if (column % apart == family_draw(rule, 8, apart)) x = own + 16 * rule.scale;
      break;
    }
    case InputFamily::regular:
      switch (form_of(rule)) {
        case 0:
        case 1: {
          const bool is_zero = column % 2 == static_cast<Word>(form_of(rule));
          if (is_zero && (is_floating(rule.dtype) || rule.holds_zero)) x = 0;
          break;
        }
        case 5:
          x = evenly_spaced(rule, i);
          break;
        default:
          x = source;
      }
      break;
    case InputFamily::other_scalars:
      if (own == 0) x = sign * (unit(bits) + 0.5) * rule.scale;
      x *= narrow ? 2 : 0x1p4;
      for (Word step = (i / rule.row + 1) % 8; step > 0; --step) x *= narrow ? 0.5 : 0x1p-4;
      break;
    case InputFamily::identity:
      x = is_counted ? consecutive_value(rule, i) : column == line ? 1 : 0;
      break;
    case InputFamily::permutation: {
      const Word shift = 1 + family_draw(rule, 1, rule.row > 1 ? rule.row - 1 : 1);
      const Word shifted = (line + shift) % rule.row;
      x = column == (form_of(rule) == 0 ? shifted : rule.row - 1 - shifted) ? 1 : 0;
      break;
    }
    case InputFamily::triangular:
      if (form_of(rule) == 0   ? column > line
          : form_of(rule) == 1 ? column < line
                               : column > line + 1 || line > column + 1)
        x = 0;
      break;
    case InputFamily::zero_block: {
      const FamilyBox box = zero_box(rule);
      if (line - box.first_line < box.lines && column - box.first_column < box.columns) x = 0;
      break;
    }
    case InputFamily::one_value:
      switch (form_of(rule)) {
        case 0:
          x = rule.odd != kNoElement && is_floating(rule.dtype) ? 1 : source;
          break;
        case 1:
          x = is_floating(rule.dtype) || rule.holds_zero ? 0 : rule.least;
          break;
        case 2:
          x = rule.least;
          break;
        case 3:
          x = rule.greatest;
          break;
        default:
          x = digits_value(rule, 8);
      }
      break;
    case InputFamily::low_rank: {
      const double u = (unit(random_word(rule.seed, i / rule.row, 6)) + 0.5) *
                       ((random_word(rule.seed, i / rule.row, 7) & 1U) != 0 ? -1 : 1);
      x = u * (2 * unit(random_word(rule.seed, column, 8)) - 1) * 1.75 * rule.scale;
      break;
    }
    case InputFamily::ascending: {
      const double place = progress(
          rule, i,
          (static_cast<double>(column) + 0.75 * unit(bits)) / static_cast<double>(rule.row));
      if (!is_floating(rule.dtype))
        return rule.least + floor((form_of(rule) == 0 ? place : 1 - place) *
                                  (rule.greatest - rule.least + 0.75));
      x = placed_value(rule, form_of(rule) == 0 ? 2 * place - 1 : 1 - 2 * place);
      break;
    }
    case InputFamily::alike: {
      const double common = unit(random_word(rule.common_seed, alike_place(rule, i), 3));
      const bool is_opposite = form_of(rule) == 1;
      if (is_floating(rule.dtype)) {
        x = (is_opposite ? -1 : 1) * (2 * common - 1);
      } else {
        x = rule.least + floor(common * (rule.greatest - rule.least + 1));
        if (is_opposite) x = rule.least + rule.greatest - x;
      }
      break;
    }
  }
  return rule.nonnegative ? fabs(x) : x;
}

/// The new value of element `i` with value `own`. `source`: the own value of element
/// family_source(rule, i).
inline double family_value(const FamilyRule& rule, Word i, double own, double source) {
  if (rule.arrangement != Arrangement::none) return arranged_value(rule, i);
  double x = regular_value(rule, i, own, source);
  if (is_odd(rule, i) && (rule.family != InputFamily::identity || is_floating(rule.dtype))) {
    const bool is_one_of_two = !is_floating(rule.dtype) && rule.greatest == rule.least + 1;
    const bool is_ordered = rule.odd_group > 0 && rule.family == InputFamily::ascending;
    x = is_ordered ? beyond_all(rule, i) : is_one_of_two ? rule.least + rule.greatest - x : own;
  }
  return rule.low < rule.high && (x < rule.low || x > rule.high) ? own : x;
}

}  // namespace portable
}  // namespace warpath
