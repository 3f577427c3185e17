#pragma once

#include <cstddef>

namespace warpath {

// Blocks of memory that grow by moving pages instead of bytes: there are never two copies, and what
// was never written takes none. Large ones are in huge pages where the system gives any (Linux:
// madvise): what is read all over a large block is then seldom missing in the processor's table of
// pages.

/// `block`, of `old_bytes` or null, as one of `bytes`, which is more. Throws std::bad_alloc, with
/// the block as it was, if there is no memory.
[[nodiscard]] void* grow_block(void* block, std::size_t old_bytes, std::size_t bytes);
/// `bytes`: as it was last grown to.
void free_block(void* block, std::size_t bytes) noexcept;

}  // namespace warpath
