#pragma once

#include <cstdint>
#include <string>

#include "engine/plugin/move.h"
#include "moves/edit/code_writer.h"
#include "moves/tiles/contraction.h"

namespace warpath {

/// Sets the launch to one block per tile: `tiles` over the grid axes of m and n, plus one tile for
/// the remainder of every group, `threads` in a row.
void set_tile_launch(LaunchPlan& launch,
                     const Contraction& contraction,
                     std::int64_t bm,
                     std::int64_t bn,
                     std::int64_t threads);

/// The source with `body` as the kernel's body. An existing __launch_bounds__ is set to `threads`;
/// with `min_blocks` it is added if missing, so that the compiler limits registers to fit that many
/// blocks per multiprocessor.
[[nodiscard]] std::string with_body(const MoveContext& context,
                                    const Contraction& contraction,
                                    const std::string& body,
                                    std::int64_t threads,
                                    std::int64_t min_blocks = 0);

/// Names in the search for a block's group: variables of its own, and the block's rows.
struct GroupSearch {
  std::string tile, tiles, first;
  std::string begin, end;
};
/// Writes the search for the group of a block whose tiles hold `tile_rows` rows (a name): every
/// group has tiles of its own, and blocks behind the last one return.
void write_group_search(CodeWriter& w,
                        const Contraction& contraction,
                        const GroupSearch& names,
                        const std::string& tile_rows);

}  // namespace warpath
