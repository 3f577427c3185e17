#pragma once

#include <cstddef>
#include <filesystem>

namespace warpath {

// Blocks of memory that grow by moving pages instead of bytes: there are never two copies, and what
// was never written takes none. Large ones are in huge pages where the system gives any (Linux:
// madvise): what is read all over a large block is then seldom missing in the processor's table of
// pages. They may lie in files instead, for a process that works longer than its memory lasts.
// Thread-safe as malloc is.

/// `block`, of `old_bytes` or null, as one of `bytes`, which is more. Throws std::bad_alloc, with
/// the block as it was, if there is no memory.
[[nodiscard]] void* grow_block(void* block, std::size_t old_bytes, std::size_t bytes);
/// `bytes`: as it was last grown to.
void free_block(void* block, std::size_t bytes) noexcept;

/// Blocks that grow beyond so many bytes can lie in files.
inline constexpr std::size_t kMostInMemory = std::size_t{1} << 20U;
/// Blocks that grow beyond kMostInMemory from now on lie in files of `folder` that have no name and
/// end with the process; one that has no room there stays in memory. Empty, as at first: none.
void put_blocks_in(const std::filesystem::path& folder);
/// Takes out of the process's memory what lies in files: what is used comes back by itself, and
/// the system writes the rest when it needs the room.
void page_out_blocks() noexcept;

}  // namespace warpath
