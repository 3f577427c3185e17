#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"

namespace warpath {

/// out[f(x, y)] = e(in[g(x, y)]) where memory is contiguous along one thread axis on the way in and
/// along the other on the way out: a tile in shared memory is written along one and read along the
/// other. `tile` elements squared a block, `rows` of them at a time.
[[nodiscard]] std::optional<Variant> transposed_through_tile(const MoveContext& context,
                                                             const model::KernelModel& kernel,
                                                             std::int64_t tile,
                                                             std::int64_t rows,
                                                             std::string& why);

/// A loop over j that loads elements x[s * j + ...] which are the same for all threads of a block:
/// those of `tile` steps at a time go to shared memory. Threads beyond the end stay for the
/// barriers and do not store.
[[nodiscard]] std::optional<Variant> streamed_through_tile(const MoveContext& context,
                                                           const model::KernelModel& kernel,
                                                           const model::Loop& loop,
                                                           std::int64_t tile,
                                                           std::string& why);

}  // namespace warpath
