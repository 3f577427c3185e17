#pragma once

#include <cstdint>
#include <string>

#include "moves/shared/code_template.h"
#include "moves/shared/contraction.h"

namespace warpath {

/// How a contraction runs on tensor cores.
struct TensorTile {
  bool wgmma = false;  ///< warp-group instructions of sm_90a; false: mma.sync
  int block_m = 128;   ///< tile of a block; wgmma: 64 rows a warp group
  int block_n = 128;
  int warps_m = 2;  ///< mma.sync: warps along m and n
  int warps_n = 2;
  int stages = 3;  ///< slices of both operands in shared memory
  int band = 8;    ///< tile rows that blocks walk column by column

  [[nodiscard]] int threads() const { return wgmma ? block_m * 2 : warps_m * warps_n * 32; }
  /// A slice is 128 bytes of k deep.
  [[nodiscard]] std::int64_t smem_bytes() const {
    return std::int64_t{128} * (block_m + block_n) * stages;
  }
};

/// How tiles of one operand get to shared memory and lie there, in lines of 128 bytes.
struct TensorOperand {
  /// a line runs along k; false: along m (or n), 128 bytes, in panels of one slice of k
  bool k_major = true;
  bool async = true;  ///< by 16-byte asynchronous copies; false: element by element
};

/// Empty if `c` is a product that tensor cores compute exactly as it stands (up to the order of
/// sums), otherwise why not.
[[nodiscard]] std::string tensor_problem(const Contraction& c);
[[nodiscard]] TensorOperand tensor_operand(const Contraction& c, const ContractionOperand& operand);
/// Empty if `tile` is a shape that the templates take for `c`, otherwise why not.
[[nodiscard]] std::string tensor_tile_problem(const Contraction& c, const TensorTile& tile);

/// Device functions around the instructions, to stand before the kernel.
[[nodiscard]] std::string tensor_helpers(CodeTemplate& code,
                                         const Contraction& c,
                                         const TensorTile& tile);
/// The kernel's new body, from behind "{" to before "}".
[[nodiscard]] std::string tensor_body(CodeTemplate& code,
                                      const Contraction& c,
                                      const TensorTile& tile);
/// `before` with the grid, block and shared memory of the new kernel.
[[nodiscard]] LaunchPlan tensor_launch(const Contraction& c,
                                       const TensorTile& tile,
                                       const LaunchPlan& before);

}  // namespace warpath
