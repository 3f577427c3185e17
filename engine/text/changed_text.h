#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "engine/text/tokens.h"

namespace warpath {

/// How many bytes two texts have in common at both ends, which do not overlap in either.
struct CommonEnds {
  std::size_t before = 0;
  std::size_t behind = 0;
};
[[nodiscard]] CommonEnds common_ends(std::string_view a, std::string_view b);

/// Whole lines that hold everything in which two texts differ.
struct ChangedLines {
  std::size_t first = 0;  ///< of the tokens before, the first one in these lines
  std::size_t rest = 0;   ///< and the first one behind them
  std::size_t begin = 0;  ///< bytes [begin, old_end) of the text before
  std::size_t old_end = 0;
  std::size_t end = 0;  ///< are bytes [begin, end) of the one after
};
/// `tokens` are those of `before`, with comments or without. The tokens of the lines alone are
/// those that the whole text has there, unless they are ambiguous.
[[nodiscard]] ChangedLines lines_around(std::string_view before,
                                        const std::vector<Token>& tokens,
                                        std::string_view after,
                                        const CommonEnds& same);

}  // namespace warpath
