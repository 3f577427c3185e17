#pragma once

#include <cstdint>
#include <string>

#include "moves/edit/code_template.h"
#include "moves/tiles/contraction.h"

namespace warpath {

/// The tiling of a contraction on tensor cores.
struct TensorTile {
  bool wgmma = false;  ///< warp-group instructions of sm_90a; false: mma.sync
  int block_m = 128;   ///< tile of a block; wgmma: 64 rows per warp group
  int block_n = 128;
  int warps_m = 2;  ///< mma.sync: warps along m and n
  int warps_n = 2;
  int stages = 3;  ///< slices of both operands in shared memory
  int band = 8;    ///< tile rows that blocks traverse column by column

  [[nodiscard]] int threads() const { return wgmma ? block_m * 2 : warps_m * warps_n * 32; }
  /// A slice is 128 bytes deep in k.
  [[nodiscard]] std::int64_t smem_bytes() const {
    return std::int64_t{128} * (block_m + block_n) * stages;
  }
};

/// How tiles of one operand are copied to and laid out in shared memory, in lines of 128 bytes.
struct TensorOperand {
  /// a line runs along k; false: along m (or n), 128 bytes, in panels of one slice of k
  bool k_major = true;
  bool async = true;  ///< by 16-byte asynchronous copies; false: element by element
};

/// Why tensor cores cannot compute the product `c` exactly (up to the order of sums); empty if they
/// can.
[[nodiscard]] std::string tensor_problem(const Contraction& c);
[[nodiscard]] TensorOperand tensor_operand(const Contraction& c, const ContractionOperand& operand);
/// Why the templates do not support `tile` for `c`; empty if they do.
[[nodiscard]] std::string tensor_tile_problem(const Contraction& c, const TensorTile& tile);

/// The kernel's new body, without its braces.
[[nodiscard]] std::string tensor_body(CodeTemplate& code,
                                      const Contraction& c,
                                      const TensorTile& tile);
/// `before` with the grid, block and shared memory of the new kernel.
[[nodiscard]] LaunchPlan tensor_launch(const Contraction& c,
                                       const TensorTile& tile,
                                       const LaunchPlan& before);

}  // namespace warpath
