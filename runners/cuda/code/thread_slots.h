#pragma once

#include <cstddef>

#include "runners/cuda/code/pointer_origins.h"

namespace warpath::cuda {

/// True if every thread that reads a buffer through the non-coherent path, where another parameter
/// of the entry points to the same buffer, reads only a slot that it alone writes, and reads it
/// before writing: then no stale line can be read. Proved from the code if
/// - all these reads and writes are in the entry, at one address up to constants, and no code there
///   uses threadIdx.y or .z;
/// - that address contains threadIdx.x times a constant at least as large as their joint span, and
///   no other term derived from threadIdx.x;
/// - control does not pass from a write to a read of the same bytes, and the value stored by such a
///   write depends on the value read.
/// False if that cannot be shown: addresses that change in a loop, copies, atomics, pointers that
/// are not followed.
[[nodiscard]] bool stays_in_own_slots(const BufferTraffic& traffic,
                                      std::size_t written,
                                      std::size_t read);

}  // namespace warpath::cuda
