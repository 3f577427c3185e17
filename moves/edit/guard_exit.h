#pragma once

#include <optional>

#include "engine/plugin/move.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// The kernel with the guard around all that it does at the end, `if (i < n) { ... }`, as an early
/// exit, `if (i >= n) return;`, so that what was in it stands at the top level. nullopt if it ends
/// in no such guard, i is no thread's index, or a name of the guard's block is one of the kernel's.
[[nodiscard]] std::optional<Variant> with_guard_as_exit(const MoveContext& context,
                                                        const model::KernelModel& kernel);

}  // namespace warpath
