#pragma once

#include <cstdint>
#include <vector>

#include "engine/search/strategy.h"

namespace warpath {

/// The root's moves to begin a search with, more of them where its priors leave more kinds to
/// choose from (docs/search.md).
struct Survey {
  double moves = 0;  ///< of the root before all else
  /// the first of them, the last first: the likeliest of each kind of which the priors do not say
  /// that it is half as likely as another
  std::vector<std::uint32_t> actions;
};

/// `each`: moves for each kind that the priors leave beside the likeliest; they leave 1 / sum of
/// P^2 over kinds (Simpson 1949).
[[nodiscard]] Survey survey_of_root(Field& field, double each);

}  // namespace warpath
