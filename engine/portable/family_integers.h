#pragma once

#include "engine/portable/family_offsets.h"
#include "engine/portable/family_structure.h"

/// Integers of input families.
namespace warpath::portable {

/// The value of an integer type whose bits are counted from 0 by `code`.
inline double coded_value(const FamilyRule& rule, Word code) {
  const double span = rule.greatest - rule.least + 1;
  const double x = static_cast<double>(code % static_cast<Word>(span));
  return x > rule.greatest ? x - span : x;
}

/// Integers that count upwards and begin again at the rule's least value: from any of its values
/// or, but for one element, from 0 where that is one, as the places of a copy. In form 1 each is
/// one less than its place, but for the first of a chain, which is its own: who follows links takes
/// as many steps as a chain is long.
inline double consecutive_value(const FamilyRule& rule, Word i) {
  const Word span = static_cast<Word>(rule.greatest - rule.least) + 1;
  const bool from_zero = rule.odd != kNoElement && rule.holds_zero;
  const Word first = from_zero ? static_cast<Word>(-rule.least) : family_draw(rule, 5, span);
  const Word elsewhere = is_odd(rule, i) && span > 1 ? 1 + family_draw(rule, 6, span - 1) : 0;
  if (form_of(rule) == 1) {
    constexpr Word kLongest = 16384;
    const Word column = i % rule.row, before = column % kLongest > 0 ? column - 1 : column;
    return rule.least + static_cast<double>((before + elsewhere) % span);
  }
  return rule.least + static_cast<double>((first + i % rule.row + elsewhere) % span);
}

/// All digits of four bits are `digit`.
inline double digits_value(const FamilyRule& rule, Word digit) {
  return coded_value(rule, 0x1111111111111111ULL * digit);
}

/// How many leading bits, of so many, element `i` of InputFamily::extremes has lost in form 3.
inline Word lost_bits(const FamilyRule& rule, Word i, Word of) {
  return random_word(rule.common_seed, i, 12) % of;
}

/// True if integers of the rule have many sizes.
inline bool has_sizes(const FamilyRule& rule) {
  return !is_floating(rule.dtype) && rule.holds_zero && rule.greatest - rule.least >= 0x1p15;
}

/// Element `i` of InputFamily::extremes.
inline double extreme_value(const FamilyRule& rule, Word i, double own) {
  const Word bits = random_word(rule.seed, i, 3);
  if (form_of(rule) == 3) {
    constexpr Word kOneOf = 8;
    const double most = rule.greatest > -rule.least ? rule.greatest : -rule.least;
    const double top = power_below(most);
    Word width = 1;  // bits of the greatest
    while (static_cast<double>(Word{1} << (width - 1)) < top) ++width;
    const double power = top / static_cast<double>(Word{1} << lost_bits(rule, i, width));
    const double x = bits % kOneOf != 0 ? own * (power / top) : own < 0 ? -power : power;
    return x < rule.least || x > rule.greatest ? own : x < 0 ? ceil(x) : floor(x);
  }
  if (form_of(rule) != 0) {
    // Beside each other lie two of the same sum, so that those of lines are equal.
    const double span = rule.greatest - rule.least + 1, most = span < 4 ? span - 1 : 3;
    const Word second = i % rule.row % 2;
    const auto drawn = static_cast<double>(random_word(rule.seed, i - second, 3) %
                                           (static_cast<Word>(most) + 1)),
               step = second != 0 ? most - drawn : drawn;
    return form_of(rule) == 1 ? rule.greatest - step : rule.least + step;
  }
  if (bits % 2 == 0 || rule.least == rule.greatest) return own;
  const Word kind = bits / 2 % 8;
  if (kind < 6 || !rule.holds_all) {
    const double least = rule.least, greatest = rule.greatest;
    const Word which = bits / 16 % 8;
    if (which < 2) return least;
    if (which < 4) return greatest;
    if (which == 4) return least + 1;
    if (which == 5) return greatest - 1;
    if (!rule.holds_zero) return own;
    return which == 6 ? 0 : least < 0 ? -1 : greatest > 0 ? 1 : 0;
  }
  const Word width = width_of(rule.dtype), drawn = random_word(rule.seed, i * width / 16, 4),
             code = (drawn & 1U) != 0 ? 0x1111111111111111ULL * (drawn / 2 % 16)
                                      : Word{1} << drawn / 2 % (8 * width);
  return coded_value(rule, kind == 6 ? code : code + bits / 16 % 3 - 1);
}

/// The next element of the line or, of its last one, the one before.
inline Word neighbour(const FamilyRule& rule, Word i) {
  return rule.row < 2 ? i : i % rule.row + 1 < rule.row ? i + 1 : i - 1;
}

/// Element `i` of another arrangement. The odd element of a permutation has exchanged places with
/// its neighbour; of offsets it is the one that is not where even ranges begin.
inline double arranged_value(const FamilyRule& rule, Word i) {
  const bool first = form_of(rule) == 0;
  if (rule.arrangement == Arrangement::permutation) {
    const bool exchanged =
        rule.odd != kNoElement && (i == rule.odd || i == neighbour(rule, rule.odd));
    if (exchanged) i = i == rule.odd ? neighbour(rule, i) : rule.odd;
    const Word column = i % rule.row,
               shift = 1 + family_draw(rule, 1, rule.row > 1 ? rule.row - 1 : 1);
    return static_cast<double>(rule.family == InputFamily::identity ? column
                               : first                              ? (column + shift) % rule.row
                                                                    : rule.row - 1 - column);
  }
  const Word ranges = rule.elements - 1;
  if (i >= ranges) return rule.greatest;
  if (const int form = form_of(rule); form > 1) return lopsided_offset(rule, i, form == 2);
  if (rule.odd != kNoElement) {
    const double even = even_offset(rule, i);
    if (i != rule.odd || i == 0) return even;
    if (first) return even_offset(rule, i - 1);
    return even < even_offset(rule, i + 1) ? even + 1 : even;
  }
  constexpr Word kOneOf = 8;
  const double share =
      static_cast<double>(first ? i - i % kOneOf : i) / static_cast<double>(ranges);
  return floor(rule.greatest * (first ? share : share * share));
}

}  // namespace warpath::portable
