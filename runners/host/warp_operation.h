#pragma once

namespace warpath::host {

/// What the lanes of one warp operation brought.
struct WarpOperands {
  unsigned active = 0;  ///< lanes taking part
  unsigned long long value[32] = {};
};

/// Result of operation `op` (WarpathWarpOp) for `lane`. A shuffle from a lane that does not take
/// part gives all ones, which no correct kernel may depend on.
[[nodiscard]] unsigned long long warp_result(
    int op, const WarpOperands& operands, unsigned lane, int argument, int width);

}  // namespace warpath::host
