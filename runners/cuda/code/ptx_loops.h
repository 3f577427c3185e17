#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "runners/cuda/code/ptx.h"
#include "runners/cuda/code/ptx_values.h"

namespace warpath::cuda {

/// A loop: the instructions from its head to its backward branch, both included.
struct PtxLoop {
  std::size_t first = 0, last = 0;
  int parent = -1;  ///< index of the smallest enclosing loop
  int depth = 1;    ///< 1: outermost
  /// of the whole body per entry of the loop; nullopt: not a counted loop, or a bound is unknown
  std::optional<double> trips;
};

/// The loops of a function by their backward branches, outermost first among equal starts. A loop
/// is counted if its branch compares a register that the body changes by a constant with a known
/// value: parameters, block, grid, constants. A bound that depends on the thread or block is taken
/// for the first thread of the first block.
[[nodiscard]] std::vector<PtxLoop> ptx_loops(const PtxFunction& function, const PtxLaunch& launch);

/// Index of the instruction labelled `label`; nullopt if there is none.
[[nodiscard]] std::optional<std::size_t> label_target(const PtxFunction& function,
                                                      std::string_view label);

}  // namespace warpath::cuda
