#pragma once

#include <cstddef>

#include "runners/cuda/code/pointer_origins.h"

namespace warpath::cuda {

/// True if every thread reads through the path that is not kept coherent, of a buffer that two
/// parameters of one entry point to, a slot that it alone writes, and before it does: no line of
/// that path is old then. Told from the code where
/// - all these reads and writes stand in the entry, at one address but for constants, and nothing
/// there looks at threadIdx.y or .z;
/// - that address has threadIdx.x times a constant, at least as much as all of them span, and no
/// other term made of it;
/// - control comes from no write to a read of the same bytes, and what such a write stores was made
/// of what was read. False where that cannot be told: addresses that change in a loop, copies,
/// atomics, pointers that are not followed.
[[nodiscard]] bool stays_in_own_slots(const BufferTraffic& traffic,
                                      std::size_t written,
                                      std::size_t read);

}  // namespace warpath::cuda
