#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"

namespace warpath {

/// Choices of blocks per multiprocessor for a limited grid.
inline constexpr std::int64_t kBlocksPerMultiprocessor[] = {1, 2, 4, 8, 16, 32};

/// True if the kernel does not depend on its number of blocks, which may then be reduced; otherwise
/// one line in `why`.
[[nodiscard]] bool may_limit_grid(const MoveContext& context,
                                  const model::KernelModel& model,
                                  std::string& why);

/// Limits the first axis of the grid to `blocks_per_sm` blocks per multiprocessor of the device.
void limit_grid(Variant& variant, const MoveContext& context, std::int64_t blocks_per_sm);

/// Converts a kernel of one item per thread behind a guarded index to a loop over items that are
/// gridDim.x * blockDim.x apart, on a limited grid. nullopt with one line in `why` if it is not
/// such a kernel, carries state from one item to the next, or its index could overflow.
[[nodiscard]] std::optional<Variant> strided_over_threads(const MoveContext& context,
                                                          const model::KernelModel& model,
                                                          std::int64_t blocks_per_sm,
                                                          std::string& why);

}  // namespace warpath
