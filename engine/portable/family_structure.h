#pragma once

#include "engine/portable/family_range_end.h"
#include "engine/portable/family_rule.h"

/// Input families with a structure: its forms, its regions, and which elements are equal.
namespace warpath::portable {

/// Number of kinds of the family's structure that differ in a tensor of the rule's type and shape.
/// Those of InputFamily::zero_block are, for each kind of zero region, its positions.
inline int structure_forms(const FamilyRule& rule) {
  switch (rule.family) {
    case InputFamily::identity:
      return is_floating(rule.dtype) || rule.arrangement != Arrangement::none ? 1 : 2;
    case InputFamily::permutation:
      return rule.row > 1 ? 2 : 1;
    case InputFamily::regular:
      return rule.row < 4 ? 1 : is_floating(rule.dtype) ? 6 : 5;
    case InputFamily::ascending:
      return rule.row < 2                                                    ? 1
             : rule.arrangement == Arrangement::offsets && rule.elements > 2 ? 4
                                                                             : 2;
    case InputFamily::triangular:
      return rule.lines > 2 && rule.row > 2 ? 3 : rule.lines > 1 ? 2 : 1;
    case InputFamily::alike:
      return rule.row < 2 ? 2 : rule.lines < 2 ? 3 : 4;
    case InputFamily::one_value:
      return is_floating(rule.dtype) ? 2 : rule.holds_all ? 5 : 4;
    case InputFamily::extremes:
      return 4;
    case InputFamily::half_copy:
      return rule.row > 1 && rule.lines == rule.row     ? is_floating(rule.dtype) ? 5 : 4
             : rule.row > 1 && rule.elements > rule.row ? 2
                                                        : 1;
    case InputFamily::repeated_tile:
      return rule.row > 1 && rule.lines > 1 ? 3 : 1;
    case InputFamily::zero_block:
      return rule.row > 1 && rule.lines > 1 ? 9 : 3;
    default:
      return 1;
  }
}

inline int form_of(const FamilyRule& rule) {
  return rule.form % structure_forms(rule);
}

/// Element `i` is an exception to the rule's structure.
inline bool is_odd(const FamilyRule& rule, Word i) {
  return i == rule.odd ||
         (rule.odd_group > 0 &&
          i % rule.odd_group == random_word(rule.seed, i / rule.odd_group, 11) % rule.odd_group);
}

/// The number of the common value that element `i` has in InputFamily::alike: in form 2 every line
/// is moved on by a number of places of its own, in form 3 lines and columns are exchanged.
inline Word alike_place(const FamilyRule& rule, Word i) {
  const Word column = i % rule.row, line = i / rule.row % rule.lines;
  if (form_of(rule) == 2) {
    const Word places = random_word(rule.common_seed, i / rule.row, 5) % rule.row;
    return i - column + (column + places) % rule.row;
  }
  return form_of(rule) == 3 ? i - i % (rule.lines * rule.row) + column * rule.lines + line : i;
}

/// The lines and columns of a matrix selected by a rule.
struct FamilyBox {
  Word first_line, lines, first_column, columns;
};

/// A range of a quarter to a half of `extent`, beginning at [0, anywhere between, as late as
/// possible].
inline void family_run(
    const FamilyRule& rule, Word which, Word extent, int place, Word& first, Word& length) {
  length = extent / 4 + 1 + family_draw(rule, which, extent / 4 + 1);
  if (length > extent) length = extent;
  const Word last = extent - length;
  first = place == 0               ? 0
          : place == 2 || last < 2 ? last
                                   : 1 + family_draw(rule, which + 1, last - 1);
}

/// The region of InputFamily::zero_block.
inline FamilyBox zero_box(const FamilyRule& rule) {
  const int form = form_of(rule), place = form % 3;
  const bool by_lines = rule.row < 2 || (rule.lines > 1 && form / 3 != 1),
             by_columns = !by_lines || form / 3 == 2;
  FamilyBox box{0, rule.lines, 0, rule.row};
  if (by_lines) family_run(rule, 1, rule.lines, place, box.first_line, box.lines);
  if (by_columns) family_run(rule, 3, rule.row, place, box.first_column, box.columns);
  return box;
}

/// A power of two from 8 to 64, at most half of `extent`; `extent` itself if that is less than 2.
inline Word tile_extent(const FamilyRule& rule, Word which, Word extent) {
  if (extent < 2) return extent;
  Word tile = Word{8} << family_draw(rule, which, 4);
  while (tile > extent / 2) tile /= 2;
  return tile;
}

/// The element whose own value element `i` takes: itself, except in families of own values. An
/// element that others read is its own source, and keeps its value.
inline Word family_source(const FamilyRule& rule, Word i) {
  switch (rule.family) {
    case InputFamily::constant:
    case InputFamily::one_value:
      return mix(rule.seed) % rule.elements;
    case InputFamily::repeated_tile: {
      const Word column = i % rule.row, line = i / rule.row % rule.lines,
                 first = i - line * rule.row - column;
      const bool beside = form_of(rule) != 1, below = form_of(rule) != 0 || rule.row < 2;
      const Word tile_lines = below ? tile_extent(rule, 1, rule.lines) : rule.lines;
      const Word tile_columns = beside ? tile_extent(rule, 3, rule.row) : rule.row;
      return first + line % tile_lines * rule.row + column % tile_columns;
    }
    case InputFamily::half_copy: {
      if (rule.row > 1 && form_of(rule) == 0) {
        const Word half = rule.row / 2, column = i % rule.row;
        return column >= half && column < 2 * half ? i - half : i;
      }
      if (form_of(rule) > 1) {
        const Word column = i % rule.row, line = i / rule.row % rule.lines,
                   first = i - line * rule.row - column;
        const Word across = column < line ? first + column * rule.row + line : i;
        return form_of(rule) == 3 ? first + (column + rule.row - line) % rule.row : across;
      }
      const Word half = rule.elements / 2;
      return i >= half && i < 2 * half ? i - half : i;
    }
    case InputFamily::regular: {
      const Word column = i % rule.row, first = i - column, half = (rule.row + 1) / 2;
      switch (form_of(rule)) {
        case 2:
          return i - column % 2;
        case 3:
          return column % 4 < 3 ? i - column % 4 : i;
        case 4:
          return column < half ? i : first + rule.row - 1 - column;
        default:
          return i;
      }
    }
    default:
      return i;
  }
}

/// Element `i` of a line of InputFamily::regular whose elements lie at equal distances, exactly.
inline double evenly_spaced(const FamilyRule& rule, Word i) {
  const bool bounded = rule.low < rule.high;
  double step = power_below(bounded ? rule.high - rule.low : rule.scale);
  for (Word columns = 1; columns < rule.row; columns *= 2) step *= 0.5;
  const double first = bounded            ? rule.low
                       : rule.nonnegative ? 0
                                          : -step * static_cast<double>(rule.row / 2);
  return first + step * static_cast<double>(i % rule.row);
}

}  // namespace warpath::portable
