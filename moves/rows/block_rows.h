#pragma once

#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A kernel whose blocks each share a row, written as one of a row a thread. Only a step on the
/// way: where no lanes share its rows it is far slower.
struct ThreadRows {
  Variant variant;
  bool guarded = false;  ///< otherwise the rows fill blocks of whole warps only, one a row
};

/// nullopt with one line in `why` unless the block's number of threads does not matter to what the
/// kernel computes: its threads stride together through loops, combine over the block what they
/// accumulate there (block_reduction.h), and otherwise all do the same, or one does it for all.
[[nodiscard]] std::optional<ThreadRows> rows_of_threads(const MoveContext& context,
                                                        const model::KernelModel& model,
                                                        std::string& why);

}  // namespace warpath
