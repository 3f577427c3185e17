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

}  // namespace warpath
