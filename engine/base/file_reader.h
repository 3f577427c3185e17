#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string_view>

#include "engine/base/hash.h"

namespace warpath {

/// A file of which one part after the other is read, so that it is never in memory as a whole.
/// Throws Error(bad_input) "FILE: ..." if it cannot be read. Thread-safe.
class FileReader {
 public:
  explicit FileReader(std::filesystem::path file);
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  ~FileReader();

  [[nodiscard]] const std::filesystem::path& file() const { return file_; }
  /// In bytes, as of when it was opened.
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Fills `to` with what follows `offset`; throws as the constructor if that is too little.
  void read(std::uint64_t offset, std::span<std::byte> to) const;
  /// Gives its first `bytes` one piece after another, an empty one when there are no more. A piece
  /// lives until the next is asked for; this must live as long.
  [[nodiscard]] std::function<std::string_view()> pieces(std::uint64_t bytes) const;
  /// Throws Error(bad_input) "FILE: ..." unless hash128() of its bytes is `sum`.
  void require(const Hash128& sum) const;

 private:
  std::filesystem::path file_;
  int fd_ = -1;
  std::uint64_t size_ = 0;
};

}  // namespace warpath
