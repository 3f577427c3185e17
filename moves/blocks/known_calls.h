#pragma once

#include <string_view>

#include "moves/syntax/unit.h"

namespace warpath {

/// False for a call or a macro whose value may depend on more than its arguments, as far as it is
/// not a load; true for every other expression.
[[nodiscard]] bool is_known(const model::Unit& unit, const model::Expr& e);

/// A name that tells threads apart, or says how many there are.
[[nodiscard]] bool is_of_thread(std::string_view name);

}  // namespace warpath
