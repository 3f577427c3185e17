#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// Where a thread's points are along an axis: a block's width apart, so that threads of a warp stay
/// neighbours, or beside each other, so that what neighbours share is one thread's.
enum class PointOrder : std::uint8_t { apart, neighbours };

/// For a kernel of one point per thread whose points all run the same loops: a thread makes `count`
/// points side by side within each iteration, so that what an iteration loads or computes for every
/// point is there once. Threads beyond the end repeat the last point and do not store. nullopt with
/// one line in `why` if the points do not share a loop, or are not independent.
[[nodiscard]] std::optional<Variant> points_in_common_loop(const MoveContext& context,
                                                           const model::KernelModel& kernel,
                                                           int axis,
                                                           std::int64_t count,
                                                           PointOrder order,
                                                           std::string& why);

}  // namespace warpath
