#pragma once

#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// The loop twice: without its tests where a thread passes them in every iteration, which is tested
/// once before, and as it was. For tests that are linear in the variables of the loop and of those
/// inside it. nullopt with one line in `why` if there is none.
[[nodiscard]] std::optional<Variant> tested_before_loop(const MoveContext& context,
                                                        const model::KernelModel& kernel,
                                                        const model::Loop& loop,
                                                        std::string& why);

}  // namespace warpath
