#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/blocks/block_reduction.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// What becomes of the kernel's text when a block is a single thread, whose number is 0: loops of
/// its threads take every iteration, `reductions` are what that thread has, barriers and shared
/// arrays go. nullopt with one line in `why` unless the kernel then computes the same: threads
/// stride together through loops and combine what they accumulate there, and otherwise all do the
/// same, or the first does it for all.
[[nodiscard]] std::optional<std::vector<Edit>> edits_for_one_thread(
    const model::KernelModel& model,
    const std::vector<BlockReduction>& reductions,
    std::string& why);

}  // namespace warpath
