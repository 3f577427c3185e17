#pragma once

#include <string_view>

namespace warpath {

/// The commit that the program was built from, 12 digits; "unknown" outside a checkout.
[[nodiscard]] std::string_view revision();

}  // namespace warpath
