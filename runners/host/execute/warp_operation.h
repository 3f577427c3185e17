#pragma once

namespace warpath::host {

/// The operands of the lanes of one warp operation.
struct WarpOperands {
  unsigned active = 0;                ///< participating lanes
  unsigned long long absent = ~0ULL;  ///< what a shuffle has from another one
  unsigned long long value[32] = {};
};

/// Result of operation `op` (WarpathWarpOp) for `lane`. No correct kernel depends on what a shuffle
/// has from a lane that does not participate.
[[nodiscard]] unsigned long long warp_result(
    int op, const WarpOperands& operands, unsigned lane, int argument, int width);

}  // namespace warpath::host
