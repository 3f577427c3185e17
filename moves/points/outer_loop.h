#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// For a kernel of independent points of which part of the work does not depend on their outermost
/// coordinate (image, channel, row of a batch): a thread makes `count` values of it in a loop, and
/// what is the same for all of them once before. The coordinate is an axis of the grid, y or z, or
/// the slowest part of a flat index along x, which then becomes an axis of the grid. Loops of a
/// fixed length, like those over a pack, are split: what they compute for all outer indices is kept
/// in an array. nullopt with one line in `why` if there is no such coordinate, nothing of a
/// thread's work is the same for all of them, or points are not independent.
[[nodiscard]] std::optional<Variant> points_in_outer_loop(const MoveContext& context,
                                                          const model::KernelModel& kernel,
                                                          std::int64_t count,
                                                          std::string& why);

}  // namespace warpath
