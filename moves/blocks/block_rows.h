#pragma once

#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A kernel with one row per block, rewritten with one row per thread. Only an intermediate step:
/// it is far slower unless lanes then share the rows.
struct ThreadRows {
  Variant variant;
  bool guarded = false;  ///< otherwise the rows only fill blocks of whole warps, one per row
};

/// nullopt with one line in `why` unless the block's number of threads does not matter to what the
/// kernel computes: its threads stride together through loops, combine over the block what they
/// accumulate there (block_reduction.h), and otherwise all do the same, or one does it for all.
[[nodiscard]] std::optional<ThreadRows> rows_of_threads(const MoveContext& context,
                                                        const model::KernelModel& model,
                                                        std::string& why);

}  // namespace warpath
