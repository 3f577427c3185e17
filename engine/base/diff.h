#pragma once

#include <string>
#include <string_view>

namespace warpath {

/// Unified diff with three lines of context, readable by `patch -p0`; empty if the texts are equal.
/// Shortest edit script (E. W. Myers 1986, without linear-space refinement); with more than
/// `kMaxEdits` changed lines the middle is replaced as a whole.
[[nodiscard]] std::string unified_diff(std::string_view before,
                                       std::string_view after,
                                       std::string_view before_name,
                                       std::string_view after_name);

inline constexpr int kMaxEdits = 2000;

}  // namespace warpath
