#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// Choices of blocks per multiprocessor for a limited grid.
inline constexpr std::int64_t kBlocksPerMultiprocessor[] = {1, 2, 4, 8, 16, 32};

/// Value of an expression of the launch plan if the source fixes all of its names: as constants of
/// the kernel, or as tunables.
[[nodiscard]] std::optional<std::int64_t> source_constant(const MoveContext& context,
                                                          const model::KernelModel& model,
                                                          const Expression& expression);

/// An expression of the launch plan as C text over the kernel's parameters; nullopt if it has names
/// or calls that C lacks there, or is beyond 32 bits.
[[nodiscard]] std::optional<std::string> source_text(const MoveContext& context,
                                                     const model::KernelModel& model,
                                                     const Expression& expression);

/// A loop of unknown length reads memory that the kernel writes, or may: it may go on until another
/// block has written, so that no block may wait for this one.
[[nodiscard]] bool waits_for_others(const model::KernelFacts& facts);

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

/// Converts a kernel whose threads work together to a loop over blocks that are gridDim.x apart, on
/// a limited grid: each block does the work of several. nullopt with one line in `why` if threads
/// work alone, leave at different places, or the number of blocks cannot be said in the kernel.
[[nodiscard]] std::optional<Variant> strided_over_blocks(const MoveContext& context,
                                                         const model::KernelModel& model,
                                                         std::int64_t blocks_per_sm,
                                                         std::string& why);

}  // namespace warpath
