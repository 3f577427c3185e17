#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "engine/base/hash.h"

namespace warpath::cuda {

struct FolderCacheCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t corrupt = 0;  ///< entries dropped because their checksum failed
  std::uint64_t evicted = 0;
};

/// A key-value store of texts in a folder, FOLDER/ab/abcdef....KIND, shared by any number of
/// processes and runs. Entries are written to a temporary file and renamed, so that readers see all
/// of one or nothing, and carry a checksum. When they exceed `max_bytes` the least recently used
/// are removed, under a lock. A cache that cannot be read or written behaves as an empty one and
/// never fails a run. Thread-safe.
class FolderCache {
 public:
  /// Creates the folder. `kind` is the extension of the files and the first word of their contents.
  /// Throws Error(environment) if that fails.
  FolderCache(std::filesystem::path folder, std::string kind, std::uint64_t max_bytes);

  [[nodiscard]] std::optional<std::string> find(const Hash128& key);
  void store(const Hash128& key, std::string_view text);
  /// Removes the entry of `key`, which its owner could not parse, and counts it as corrupt.
  void drop(const Hash128& key);
  [[nodiscard]] FolderCacheCounts counts() const;

 private:
  [[nodiscard]] std::filesystem::path path_of(const Hash128& key) const;
  [[nodiscard]] std::string magic() const { return "warpath " + kind_ + " 1\n"; }
  void evict();

  const std::filesystem::path folder_;
  const std::string kind_;
  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  FolderCacheCounts counts_;
  std::uint64_t estimate_bytes_ = 0;  // at the last scan, plus bytes written by this process since
};

/// WARPATH_CACHE/KIND or, failing that, warpath/KIND in XDG_CACHE_HOME or ~/.cache, or a temporary
/// folder.
[[nodiscard]] std::filesystem::path default_cache_folder(std::string_view kind);

}  // namespace warpath::cuda
