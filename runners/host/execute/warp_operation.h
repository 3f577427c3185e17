#pragma once

namespace warpath::host {

/// The operands of the lanes of one warp operation.
struct WarpOperands {
  unsigned active = 0;  ///< participating lanes
  unsigned long long value[32] = {};
};

/// Result of operation `op` (WarpathWarpOp) for `lane`. A shuffle from a non-participating lane,
/// which no correct kernel depends on, yields all ones.
[[nodiscard]] unsigned long long warp_result(
    int op, const WarpOperands& operands, unsigned lane, int argument, int width);

}  // namespace warpath::host
