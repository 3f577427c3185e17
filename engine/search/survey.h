#pragma once

#include <cstdint>
#include <vector>

#include "engine/search/strategy.h"

namespace warpath {

/// The root's moves to begin a search with, more of them where its priors tell less of their kinds
/// (docs/search.md).
struct Survey {
  double moves = 0;  ///< of the root before all else
  /// the first of them, the last first: the likeliest of each kind of which the priors do not say
  /// that it is half as likely as another
  std::vector<std::uint32_t> actions;
};

/// `share`: moves in square roots of the perplexity of the priors over kinds.
[[nodiscard]] Survey survey_of_root(Field& field, double share);

}  // namespace warpath
