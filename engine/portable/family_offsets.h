#pragma once

#include "engine/portable/family_rule.h"
#include "engine/portable/random.h"

/// Arrangement::offsets: where ranges begin.
namespace warpath::portable {

/// Where range `i` of even ones begins.
inline double even_offset(const FamilyRule& rule, Word i) {
  return floor(rule.greatest * static_cast<double>(i) / static_cast<double>(rule.elements - 1));
}

/// Where range `i` begins if the last one, or the first one, is as long as can be, that at the
/// other end is empty, and those between are even. One has an element more if there is an odd one.
inline double lopsided_offset(const FamilyRule& rule, Word i, bool last) {
  const Word ranges = rule.elements - 1;
  const double longest = rule.greatest < rule.longest ? rule.greatest : rule.longest;
  const bool has_more = rule.odd != kNoElement && longest > 0;
  const double rest = rule.greatest - longest;
  if (i == 0) return 0;
  const Word between = ranges > 2 ? ranges - 2 : 1, done = ranges > 2 || !last ? i - 1 : i;
  const double before = floor(rest * static_cast<double>(done) / static_cast<double>(between)) +
                        (has_more && i > rule.odd ? 1 : 0);
  return last ? before : before + longest - (has_more ? 1 : 0);
}

}  // namespace warpath::portable
