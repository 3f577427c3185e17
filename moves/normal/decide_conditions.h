#pragma once

#include "engine/plugin/move.h"

namespace warpath {

/// Leaves of preprocessor conditions in the kernel, and in the functions that it calls, the branch
/// that the compiler takes for the device. False if there is none that can be decided.
[[nodiscard]] bool decide_conditions(const MoveContext& context, Variant& variant);

}  // namespace warpath
