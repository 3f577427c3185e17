#pragma once

#include <array>
#include <optional>
#include <string>

#include "moves/tiles/contraction_factors.h"

namespace warpath {

/// What a step adds to a sum where that is more than a product: of two loads and nothing else that
/// changes, and 0 where both are 0, as beyond the end of a tile.
struct ContractionSummand {
  std::array<FactorPart, 2> factors;
  std::string text;  ///< with the first as "$a" and the second as "$b"
};

/// (a[i] - b[j]) * (a[i] - b[j]), fabsf(a[i] - b[j]) and the like, also by variables of the loop's
/// body. nullopt with one line in `why` if `value` is not of this form.
[[nodiscard]] std::optional<ContractionSummand> contraction_summand(const ContractionParts& parts,
                                                                    const model::Expr& value,
                                                                    const model::Loop& loop,
                                                                    std::string& why);

/// `text` with every "$a" and "$b" replaced.
[[nodiscard]] std::string with_factors(std::string text,
                                       const std::string& a,
                                       const std::string& b);

}  // namespace warpath
