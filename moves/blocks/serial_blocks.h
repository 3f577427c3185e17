#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A block does the work of `count` neighbouring blocks along `axis` of the grid, one after the
/// other, whatever their threads do and however an index is made of their place. Blocks of a launch
/// run in any order, also one behind the other on one multiprocessor; so may those of one block, as
/// long as each begins like a new one: its variables are declared again, parameters that the kernel
/// changes are copied, and shared memory has no readers left (a barrier, which all threads reach).
/// Who asks for the grid is told the launch's number of blocks. nullopt with one line in `why` if a
/// loop goes over the grid or waits for what others write, threads leave where others go on
/// together, the number of blocks has no name in the kernel, or too few blocks would remain.
[[nodiscard]] std::optional<Variant> blocks_in_turn(const MoveContext& context,
                                                    const model::KernelModel& kernel,
                                                    std::size_t axis,
                                                    std::int64_t count,
                                                    std::string& why);

}  // namespace warpath
