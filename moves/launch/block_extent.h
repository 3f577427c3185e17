#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "engine/plugin/move.h"

namespace warpath {

/// An axis of the block whose constant extent may change without a change of the source, which
/// reads it from blockDim.
struct BlockExtent {
  std::size_t axis = 0;  ///< 0: x, 1: y
  std::int64_t current = 0;
  std::vector<std::int64_t> values;  ///< ascending powers of two, usually with the current one
};

/// The free extents of the block, by axis. A literal of the same value in the source or the options
/// (a __launch_bounds__, a macro, a loop's end) may stand for the block's size: then none. As the
/// extent of a shared array it only says for how many threads there is room. Other constants that
/// tie the kernel to its block (block_constants.h) are named in `why`, which else stays as it is.
[[nodiscard]] std::vector<BlockExtent> free_block_extents(const MoveContext& context,
                                                          std::string& why);

/// Sets the extent in the plan, also where its grid or its shared memory is computed from it. False
/// if the plan's text would no longer tell the extent from other numbers, so that the way back
/// would be lost.
[[nodiscard]] bool set_block_extent(LaunchPlan& plan, const BlockExtent& extent, std::int64_t to);

}  // namespace warpath
