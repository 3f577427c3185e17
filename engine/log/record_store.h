#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "engine/base/hash.h"

namespace warpath {

/// Where a record of a RecordStore is, in units of RecordStore::kUnit bytes.
using RecordRef = std::uint32_t;
inline constexpr RecordRef kNoRecord = UINT32_MAX;

/// Texts that are written once and seldom read: in memory, or in a file of which only the end is in
/// memory. Long ones are compressed. Not thread-safe. Throws Error(environment) naming the file on
/// an I/O error.
class RecordStore {
 public:
  RecordStore() = default;
  ~RecordStore();
  RecordStore(const RecordStore&) = delete;
  RecordStore& operator=(const RecordStore&) = delete;

  /// Every record begins at a multiple of so many bytes: there are at most 64 GB of them.
  static constexpr std::uint64_t kUnit = 16;

  /// Throws Error(environment) if there are too many records.
  [[nodiscard]] RecordRef put(std::string_view text);
  /// `ref` must be one that put() returned.
  [[nodiscard]] std::string get(RecordRef ref) const;

  /// What a file contains, and the checksum of that.
  struct Extent {
    std::uint64_t bytes = 0;
    Hash128 sum;
    bool operator==(const Extent&) const = default;
  };
  /// From now on in this file, which is emptied. Only while nothing was put.
  void begin(const std::filesystem::path& file);
  /// From now on in this file as of `extent`; what follows is cut off. Only while nothing was put.
  /// Throws Error(bad_input) "FILE: ..." if it contains something else, and is then as it was.
  void resume(const std::filesystem::path& file, const Extent& extent);
  /// Everything put so far is in the file on return, and synced if `sync`.
  [[nodiscard]] Extent flush(bool sync);

 private:
  void open(const std::filesystem::path& file, int flags);
  void write_end();
  [[nodiscard]] std::string bytes_at(std::uint64_t offset, std::size_t count) const;

  std::filesystem::path file_;
  int fd_ = -1;              // -1: everything is in memory
  std::string end_;          // what follows `start_`
  std::uint64_t start_ = 0;  // bytes that are in the file alone: whole blocks
  std::uint64_t written_ = 0;
  Hash128 chain_;  // of the blocks before `start_`
};

}  // namespace warpath
