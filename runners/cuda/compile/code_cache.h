#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

#include "engine/base/hash.h"
#include "runners/cuda/compile/compile.h"
#include "runners/cuda/compile/folder_cache.h"

namespace warpath::cuda {

/// Identity of a compilation: source, all other inputs, and the compiler's version.
[[nodiscard]] Hash128 code_key(const CompileRequest& request, std::string_view nvrtc_version);

/// Content-addressed compiled code in a folder (FolderCache). Thread-safe.
class CodeCache {
 public:
  CodeCache(std::filesystem::path folder, std::uint64_t max_bytes)
      : entries_(std::move(folder), "code", max_bytes) {}

  /// The result stored for `key`; its `seconds` are those of the original compilation.
  [[nodiscard]] std::optional<CompileResult> find(const Hash128& key);
  /// Stores results that depend only on the key, ok and compile_error; ignores others.
  void store(const Hash128& key, const CompileResult& result);
  [[nodiscard]] FolderCacheCounts counts() const { return entries_.counts(); }

 private:
  FolderCache entries_;
};

}  // namespace warpath::cuda
