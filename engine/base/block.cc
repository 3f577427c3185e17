#include "engine/base/block.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <utility>

namespace warpath {
namespace {

constexpr std::size_t kHugePage = std::size_t{1} << 21U;
/// Up to this size they come from malloc: a part of the last huge page is never used.
constexpr std::size_t kMostSmall = std::size_t{1} << 26U;

/// The blocks that lie in files.
class BlockFiles {
 public:
  /// Used until the process ends, by blocks that are freed then too.
  static BlockFiles& instance() {
    static auto* const files = new BlockFiles;
    return *files;
  }

  void set_folder(const std::filesystem::path& folder) {
    const std::scoped_lock lock(mutex_);
    folder_ = folder.string();
  }
  [[nodiscard]] bool contain(void* block) {
    const std::scoped_lock lock(mutex_);
    return blocks_.contains(block);
  }
  /// A new one; null: it must be in memory.
  [[nodiscard]] void* make(std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    if (folder_.empty()) return nullptr;
    const int file = ::open(folder_.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    if (file < 0) return nullptr;
    void* block = MAP_FAILED;
    if (::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0)
      block = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (block == MAP_FAILED) {
      ::close(file);
      return nullptr;
    }
    blocks_[block] = {.bytes = bytes, .file = file};
    return block;
  }
  /// One of them with more bytes; null: it must be in memory from now on.
  [[nodiscard]] void* grow(void* block, std::size_t bytes) {
    const std::scoped_lock lock(mutex_);
    const auto at = blocks_.find(block);
    const Extent old = at->second;
    if (::posix_fallocate(old.file, 0, static_cast<off_t>(bytes)) != 0) return nullptr;
    void* const grown = ::mremap(block, old.bytes, bytes, MREMAP_MAYMOVE);
    if (grown == MAP_FAILED) return nullptr;
    auto entry = blocks_.extract(at);
    entry.key() = grown;
    entry.mapped().bytes = bytes;
    blocks_.insert(std::move(entry));
    return grown;
  }
  void remove(void* block) {
    const std::scoped_lock lock(mutex_);
    const auto at = blocks_.find(block);
    ::munmap(block, at->second.bytes);
    ::close(at->second.file);
    blocks_.erase(at);
  }
  void page_out() {
    const std::scoped_lock lock(mutex_);
    // of a shared mapping the system keeps what was written
    for (const auto& [block, extent] : blocks_) ::madvise(block, extent.bytes, MADV_DONTNEED);
  }

 private:
  struct Extent {
    std::size_t bytes = 0;
    int file = -1;
  };

  std::mutex mutex_;
  std::string folder_;
  std::map<void*, Extent> blocks_;
};

bool is_in_file(void* block, std::size_t bytes) {
  return bytes > kMostInMemory && BlockFiles::instance().contain(block);
}

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

void* allocate_in_memory(std::size_t bytes) {
  void* const block = is_large(bytes) ? map_pages(in_pages(bytes)) : std::malloc(bytes);
  if (block == nullptr) throw std::bad_alloc();
  return block;
}

/// Frees `block`.
void* copied(void* block, std::size_t old_bytes, void* to) {
  if (block != nullptr) std::memcpy(to, block, old_bytes);
  free_block(block, old_bytes);
  return to;
}

/// Moves the pages of a block of whole huge pages.
void* grow_pages(void* block, std::size_t old_bytes, std::size_t bytes) {
  void* const to = map_pages(bytes);
  void* const moved = ::mremap(block, old_bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
  if (moved != MAP_FAILED) return moved;
  ::munmap(to, bytes);
  throw std::bad_alloc();
}

}  // namespace

void* grow_block(void* block, std::size_t old_bytes, std::size_t bytes) {
  BlockFiles& files = BlockFiles::instance();
  if (is_in_file(block, old_bytes)) {
    if (void* const grown = files.grow(block, bytes)) return grown;
    return copied(block, old_bytes, allocate_in_memory(bytes));
  }
  if (bytes > kMostInMemory) {
    if (void* const made = files.make(bytes)) return copied(block, old_bytes, made);
  }
  if (is_large(old_bytes)) return grow_pages(block, in_pages(old_bytes), in_pages(bytes));
  if (is_large(bytes)) return copied(block, old_bytes, allocate_in_memory(bytes));
  void* const grown = std::realloc(block, bytes);
  if (grown == nullptr) throw std::bad_alloc();
  return grown;
}

void free_block(void* block, std::size_t bytes) noexcept {
  if (is_in_file(block, bytes)) return BlockFiles::instance().remove(block);
  is_large(bytes) ? static_cast<void>(::munmap(block, in_pages(bytes))) : std::free(block);
}

void put_blocks_in(const std::filesystem::path& folder) {
  BlockFiles::instance().set_folder(folder);
}

void page_out_blocks() noexcept {
  BlockFiles::instance().page_out();
}

}  // namespace warpath
