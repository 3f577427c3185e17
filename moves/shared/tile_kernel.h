#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/shared/contraction.h"

namespace warpath {

/// How a contraction is cut into tiles.
struct TileShape {
  std::int64_t bm = 128, bn = 128, bk = 8;  ///< tile of the output that a block makes, step along k
  std::int64_t tm = 8, tn = 8;              ///< outputs of a thread
  /// 1: two barriers a step; 2: the next tile is loaded while this one is used
  std::int64_t stages = 1;
  /// the threads of a warp own a compact rectangle of the tile
  bool warp_tile = true;
  /// wide loads and stores where they are provably aligned
  bool vector = true;
  [[nodiscard]] std::int64_t threads() const { return (bm / tm) * (bn / tn); }
};

/// The variant's kernel with its body replaced by a tiled one on the CUDA cores: operand tiles in
/// shared memory, k-major, a register block a thread. Any layouts, batch and ragged groups; bounds
/// are tested only where sizes do not divide. int8 factors of an int sum become dot products of
/// four. nullopt with one line in `why` if the shape does not fit.
[[nodiscard]] std::optional<Variant> tiled_variant(const MoveContext& context,
                                                   const Contraction& contraction,
                                                   const TileShape& shape,
                                                   std::string& why);

/// The launch of one block a tile: `tiles` over the grid axes of m and n, a tile each for every
/// group's rest, `threads` in a row.
void set_tile_launch(LaunchPlan& launch,
                     const Contraction& contraction,
                     std::int64_t bm,
                     std::int64_t bn,
                     std::int64_t threads);

/// The source with `body` as the kernel's body. A __launch_bounds__ of the kernel is set to
/// `threads`; with `min_blocks` it is added where there is none, so that the compiler leaves
/// registers for so many blocks a multiprocessor.
[[nodiscard]] std::string with_body(const MoveContext& context,
                                    const Contraction& contraction,
                                    const std::string& body,
                                    std::int64_t threads,
                                    std::int64_t min_blocks = 0);

}  // namespace warpath
