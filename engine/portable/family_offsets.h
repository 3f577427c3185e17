#pragma once

#include "engine/portable/family_rule.h"
#include "engine/portable/random.h"

/// Arrangement::offsets: where ranges begin.
namespace warpath::portable {

/// Where range `i` of even ones begins.
inline double even_offset(const FamilyRule& rule, Word i) {
  return floor(rule.greatest * static_cast<double>(i) / static_cast<double>(rule.elements - 1));
}

/// Where range `i` begins if the last one, or the first one, is as long as can be and the others
/// are even. One of them has an element more if there is an odd one.
inline double lopsided_offset(const FamilyRule& rule, Word i, bool last) {
  const Word ranges = rule.elements - 1;
  const double longest = rule.greatest < rule.longest ? rule.greatest : rule.longest;
  const bool has_more = rule.odd != kNoElement && longest > 0;
  const double rest = rule.greatest - longest;
  if (i == 0) return 0;
  const double before =
      floor(rest * static_cast<double>(last ? i : i - 1) / static_cast<double>(ranges - 1)) +
      (has_more && i > rule.odd ? 1 : 0);
  return last ? before : before + longest - (has_more ? 1 : 0);
}

}  // namespace warpath::portable
