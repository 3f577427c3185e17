#include "engine/base/block.h"

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace warpath {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21U;
/// Up to this size they come from malloc: a part of the last huge page is never used.
constexpr std::size_t kMostSmall = std::size_t{1} << 26U;

bool is_large(std::size_t bytes) {
  return bytes > kMostSmall;
}

std::size_t in_pages(std::size_t bytes) {
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

/// Addresses of whole huge pages, which are to be in such.
void* map_pages(std::size_t bytes) {
  void* const all = ::mmap(nullptr, bytes + kHugePage, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (all == MAP_FAILED) throw std::bad_alloc();
  char* const begin = static_cast<char*>(all);
  const std::size_t before =
      (kHugePage - reinterpret_cast<std::uintptr_t>(begin) % kHugePage) % kHugePage;
  if (before > 0) ::munmap(begin, before);
  ::munmap(begin + before + bytes, kHugePage - before);
  ::madvise(begin + before, bytes, MADV_HUGEPAGE);
  return begin + before;
}

}  // namespace

void* grow_block(void* block, std::size_t old_bytes, std::size_t bytes) {
  if (!is_large(bytes)) {
    void* const grown = std::realloc(block, bytes);
    if (grown == nullptr) throw std::bad_alloc();
    return grown;
  }
  void* const to = map_pages(in_pages(bytes));
  if (is_large(old_bytes)) {
    void* const moved =
        ::mremap(block, in_pages(old_bytes), in_pages(bytes), MREMAP_MAYMOVE | MREMAP_FIXED, to);
    if (moved != MAP_FAILED) return moved;
    ::munmap(to, in_pages(bytes));
    throw std::bad_alloc();
  }
  if (block != nullptr) std::memcpy(to, block, old_bytes);
  std::free(block);
  return to;
}

void free_block(void* block, std::size_t bytes) noexcept {
  is_large(bytes) ? static_cast<void>(::munmap(block, in_pages(bytes))) : std::free(block);
}

}  // namespace warpath
