#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A kernel in which each block computes the prefixes of its row, rewritten with one row per
/// thread. Only an intermediate step: it is far slower unless lanes then share the rows.
struct SerialScan {
  Variant variant;
  std::int64_t length = 0;  ///< of a row
  bool guarded = false;     ///< otherwise the rows only fill blocks of whole warps, one per row
};

/// nullopt with one line in `why` unless the kernel's threads work together and its blocks compute,
/// in whatever way (block_run.h), the inclusive or exclusive prefixes of neighbouring elements
/// under an associative operator, perhaps their total, and nothing else.
[[nodiscard]] std::optional<SerialScan> serial_scan(const MoveContext& context,
                                                    const model::KernelModel& model,
                                                    std::string& why);

}  // namespace warpath
