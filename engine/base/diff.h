#pragma once

#include <string>
#include <string_view>

namespace warpath {

/// Unified diff with three lines of context, as `patch -p0` reads it; empty if the texts are equal.
/// Shortest edit script (E. W. Myers 1986, linear refinement left out); beyond `kMaxEdits` changed
/// lines the middle is replaced whole.
[[nodiscard]] std::string unified_diff(std::string_view before,
                                       std::string_view after,
                                       std::string_view before_name,
                                       std::string_view after_name);

inline constexpr int kMaxEdits = 2000;

}  // namespace warpath
