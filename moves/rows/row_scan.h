#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"
#include "moves/rows/lanes.h"

namespace warpath {

/// How a scan is distributed over lanes: each takes `packs` packs of `vector` neighbours of a tile,
/// which consists of all lanes' packs.
struct ScanShape {
  std::int64_t packs = 1;
  std::int64_t vector = 4;
};

/// Why the loop is not a scan that lanes could share, in one line; empty if it is.
[[nodiscard]] std::string scan_refusal(const model::KernelModel& model, const model::Loop& loop);

/// The replacement of a scan loop: totals of packs, a shuffle scan over a warp, the warps' totals
/// through shared memory, then the loop's own body within each pack; the accumulator ends with the
/// same value. `taken`: names in use. Unindented. nullopt if packs of more than one element fit no
/// array of the loop.
[[nodiscard]] std::optional<std::string> scan_text(const model::KernelModel& model,
                                                   const model::Loop& loop,
                                                   const LaneGroup& group,
                                                   const ScanShape& shape,
                                                   std::set<std::string, std::less<>>& taken);

}  // namespace warpath
