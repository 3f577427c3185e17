#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/tiles/contraction.h"

namespace warpath {

/// The tiling of a contraction.
struct TileShape {
  std::int64_t bm = 128, bn = 128, bk = 8;  ///< output tile of a block, step along k
  std::int64_t tm = 8, tn = 8;              ///< outputs per thread
  /// 1: two barriers per step; 2: the next tile is loaded while this one is used
  std::int64_t stages = 1;
  /// each warp owns a compact rectangle of the tile
  bool warp_tile = true;
  /// wide loads and stores where alignment is provable
  bool vector = true;
  [[nodiscard]] std::int64_t threads() const { return (bm / tm) * (bn / tn); }
};

/// The variant with its kernel's body replaced by a tiled one for CUDA cores: operand tiles in
/// shared memory, k-major, a register block per thread. Supports any layouts, batch and ragged
/// groups; tests bounds only where sizes do not divide. int8 factors of an int sum become dot
/// products of four. nullopt with one line in `why` if the shape does not fit.
[[nodiscard]] std::optional<Variant> tiled_variant(const MoveContext& context,
                                                   const Contraction& contraction,
                                                   const TileShape& shape,
                                                   std::string& why);

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

}  // namespace warpath
