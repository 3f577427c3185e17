#pragma once

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <optional>
#include <string_view>

#include "engine/hash.h"
#include "runners/cuda/compile.h"

namespace warpath::cuda {

/// Identity of a compilation: the text, everything it is compiled with, and the compiler's version.
[[nodiscard]] Hash128 code_key(const CompileRequest& request, std::string_view nvrtc_version);

struct CodeCacheCounts {
  std::uint64_t hits = 0;
  std::uint64_t misses = 0;
  std::uint64_t corrupt = 0;  ///< entries that failed their checksum and were dropped
  std::uint64_t evicted = 0;
};

/// Compiled code in a folder, by content, shared by any number of processes and runs: FOLDER/ab/abcdef....code. An entry is
/// written aside and renamed, so that readers see all of it or nothing, and carries a checksum. When the entries exceed
/// `max_bytes`, those that were used longest ago go, under a lock. A cache that cannot be read or written behaves as an empty one:
/// it never fails a run. Thread-safe.
class CodeCache {
 public:
  /// Makes the folder. Throws Error(environment) if that is impossible.
  CodeCache(std::filesystem::path folder, std::uint64_t max_bytes);

  /// The result stored for `key`; its `seconds` are those of the compilation then.
  [[nodiscard]] std::optional<CompileResult> find(const Hash128& key);
  /// Keeps results that depend on nothing but the key: status ok and compile_error. Others are ignored.
  void store(const Hash128& key, const CompileResult& result);
  [[nodiscard]] CodeCacheCounts counts() const;

 private:
  [[nodiscard]] std::filesystem::path path_of(const Hash128& key) const;
  void evict();

  const std::filesystem::path folder_;
  const std::uint64_t max_bytes_;
  mutable std::mutex mutex_;
  CodeCacheCounts counts_;
  std::uint64_t estimate_bytes_ = 0;  // at the last scan, plus what this process has written since
};

/// "code" in WARPATH_CACHE, or where that is not set "warpath/code" in XDG_CACHE_HOME or ~/.cache.
[[nodiscard]] std::filesystem::path default_code_cache_folder();

}  // namespace warpath::cuda
