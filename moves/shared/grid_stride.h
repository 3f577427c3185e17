#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"

namespace warpath {

/// Blocks of a limited grid for each multiprocessor.
inline constexpr std::int64_t kBlocksPerMultiprocessor[] = {1, 2, 4, 8, 16, 32};

/// True if the kernel does not count on the blocks of its grid: it may have fewer. Else one line in
/// `why`.
[[nodiscard]] bool may_limit_grid(const MoveContext& context,
                                  const model::KernelModel& model,
                                  std::string& why);

/// The launch plan with no more than `blocks_per_sm` blocks for each multiprocessor of the device
/// on the grid's first axis.
void limit_grid(Variant& variant, const MoveContext& context, std::int64_t blocks_per_sm);

/// A kernel of one item a thread behind a guarded index, as a loop over items that are gridDim.x *
/// blockDim.x apart, on a limited grid. nullopt with one line in `why` where it is no such kernel,
/// hands something from one item to the next, or its index could overflow.
[[nodiscard]] std::optional<Variant> strided_over_threads(const MoveContext& context,
                                                          const model::KernelModel& model,
                                                          std::int64_t blocks_per_sm,
                                                          std::string& why);

}  // namespace warpath
