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
  std::uint64_t corrupt = 0;  ///< entries that failed their checksum and were dropped
  std::uint64_t evicted = 0;
};

/// Texts by key in a folder, shared by any number of processes and runs: FOLDER/ab/abcdef....KIND.
/// An entry is written aside and renamed, so that readers see all of it or nothing, and carries a
/// checksum. When the entries exceed `max_bytes`, those that were used longest ago go, under a
/// lock. A cache that cannot be read or written behaves as an empty one: it never fails a run.
/// Thread-safe.
class FolderCache {
 public:
  /// Makes the folder. `kind` ends the names of the files and opens their text. Throws
  /// Error(environment) if that is impossible.
  FolderCache(std::filesystem::path folder, std::string kind, std::uint64_t max_bytes);

  [[nodiscard]] std::optional<std::string> find(const Hash128& key);
  void store(const Hash128& key, std::string_view text);
  /// The entry of `key` cannot be read by its owner: it goes, and counts as corrupt.
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
  std::uint64_t estimate_bytes_ = 0;  // at the last scan, plus what this process has written since
};

/// `kind` in WARPATH_CACHE, or where that is not set "warpath/KIND" in XDG_CACHE_HOME or ~/.cache.
[[nodiscard]] std::filesystem::path default_cache_folder(std::string_view kind);

}  // namespace warpath::cuda
