#pragma once

#include "engine/portable/family_range_end.h"
#include "engine/portable/family_rule.h"
#include "engine/portable/nudge.h"
#include "engine/portable/random.h"

/// Input families of numbers where kernels compare, or round.
namespace warpath {

namespace portable {

/// A value of a structure, at `place` from -1 to 1 of its range: the declared one where that has
/// one sign, otherwise its spread about 0.
inline double placed_value(const FamilyRule& rule, double place) {
  return rule.low < rule.high ? rule.low + (place + 1) / 2 * (rule.high - rule.low)
                              : place * rule.scale;
}

/// Where kernels compare: element i of InputFamily::coarse is landmark `x`, or next to it.
inline double beside_landmark(const FamilyRule& rule, Word bits, double x) {
  const double step = nudge_step(rule.dtype) * fabs(x);
  return bits % 4 == 0 ? x + step : bits % 4 == 1 ? x - step : x;
}

/// Element `i` of InputFamily::coarse.
inline double coarse_value(const FamilyRule& rule, Word i, double own) {
  const Word bits = random_word(rule.seed, i, 3);
  if (rule.landmark_count > 0 && bits % 8 == 0)
    return beside_landmark(rule, bits >> 32U,
                           rule.landmarks[bits / 8 % static_cast<Word>(rule.landmark_count)]);
  double step = power_below(rule.scale);
  for (Word halved = bits / 8 % 9; halved > 0; --halved) step *= 0.5;
  const double x = floor(own / step + 0.5) * step;
  return is_finite(x) ? x : own;
}

/// Element `i` of InputFamily::halves.
inline double halves_value(const FamilyRule& rule, Word i) {
  constexpr Word kGroup = 32, kTops[] = {127, 255, 7, 15};
  const Word line = i / rule.row, place = i % rule.row % kGroup, group = i / rule.row * kGroup,
             top = kTops[line % 4], first = random_word(rule.seed, group, 5) % kGroup;
  const bool has_sign = line % 2 == 0;
  const double least = has_sign ? -static_cast<double>(top) : 0;
  const double x = place == first ? static_cast<double>(top)
                   : place == (first + 1) % kGroup
                       ? least
                       : least + 0.5 * static_cast<double>(random_word(rule.seed, i, 3) %
                                                           (2 * (has_sign ? 2 * top : top) + 1));
  return x * power_below(rule.scale);
}

}  // namespace portable
}  // namespace warpath
