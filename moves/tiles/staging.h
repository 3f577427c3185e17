#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// For out[f(x, y)] = e(in[g(x, y)]) where input is contiguous along one thread axis and output
/// along the other: a tile in shared memory is written along one and read along the other. `tile` x
/// `tile` elements per block, `rows` rows at a time.
[[nodiscard]] std::optional<Variant> transposed_through_tile(const MoveContext& context,
                                                             const model::KernelModel& kernel,
                                                             std::int64_t tile,
                                                             std::int64_t rows,
                                                             std::string& why);

/// The same for a kernel of one flat index that `/` and `%` take apart into coordinates, if all
/// sizes are known: the coordinate along which the load is contiguous and the one along which the
/// store is become the tile's axes, all others the grid's third. Coordinates that stay neighbours
/// in both orders count as one.
[[nodiscard]] std::optional<Variant> permuted_through_tile(const MoveContext& context,
                                                           const model::KernelModel& kernel,
                                                           std::int64_t tile,
                                                           std::int64_t rows,
                                                           std::string& why);

/// Whether `index` counts blockIdx * (threads * steps) + threadIdx along its axis, so that blocks
/// of so many threads that take so many steps cover every element once.
[[nodiscard]] bool covers_axis(const MoveContext& context,
                               const model::KernelFacts& facts,
                               const model::ThreadIndex& index,
                               std::int64_t steps);

/// For a loop over j that loads elements x[s * j + ...] which are the same for all threads of a
/// block: stages those of `tile` steps at a time in shared memory, or what the loop computes of
/// them alone; with `values` all variables of the loop's body that are the same for the block.
/// Threads beyond the end take part in the barriers and do not store.
[[nodiscard]] std::optional<Variant> streamed_through_tile(const MoveContext& context,
                                                           const model::KernelModel& kernel,
                                                           const model::Loop& loop,
                                                           std::int64_t tile,
                                                           bool values,
                                                           std::string& why);

}  // namespace warpath
