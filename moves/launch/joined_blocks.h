#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// In blocks of `threads` threads, accesses to global memory, inner ones counted more, grow by one
/// element from block to block and by more from thread to thread.
[[nodiscard]] bool gains_side_by_side(const model::KernelFacts& facts, std::int64_t threads);

/// For a kernel whose neighbouring blocks touch neighbouring elements, but whose neighbouring
/// threads do not: a block does the work of `count` neighbouring ones side by side, so that
/// neighbours in a warp touch neighbours in memory. Each has its own copy of the shared arrays.
/// nullopt with one line in `why` if blocks do more than share barriers that all of them reach, or
/// their number is no multiple of `count` that the source fixes.
[[nodiscard]] std::optional<Variant> blocks_side_by_side(const MoveContext& context,
                                                         const model::KernelModel& kernel,
                                                         std::int64_t count,
                                                         std::string& why);

}  // namespace warpath
