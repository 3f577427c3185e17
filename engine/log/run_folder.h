#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/base/error.h"

namespace warpath {

/// An I/O error on a file, with the text of errno.
[[nodiscard]] Error disk_error(const std::filesystem::path& path, const std::string& what);

/// Replaces `path` atomically by what is written piece by piece: temporary file in the same folder,
/// fsync if `sync`, rename. A reader, or a run after a crash, sees the old file or the new one,
/// never a part. A link stays one: what it names is replaced. A device or a pipe cannot be; it is
/// written to. Throws Error(environment) naming the file, leaving the old file intact.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();  ///< without commit(): `path` is as it was

  void write(std::string_view piece);
  /// What was written is now the file; nothing may be written after it.
  void commit(bool sync);

 private:
  std::filesystem::path path_, temporary_;  // equal: a device or a pipe
  int fd_ = -1;                             // -1: committed
};
/// Replaces `path` by `text` as an AtomicFile.
void write_file_atomically(const std::filesystem::path& path,
                           std::string_view text,
                           bool sync = true);

/// What was written to the file is on the disk on return. Throws Error(environment) naming it.
void sync_file(const std::filesystem::path& path);

/// The folder of one campaign, locked by one process at a time. docs/run-folder.md describes its
/// files.
class RunFolder {
 public:
  /// True if `path` contains a run.
  [[nodiscard]] static bool has_run(const std::filesystem::path& path);
  /// True if a process holds the lock of the folder `path`.
  [[nodiscard]] static bool is_in_use(const std::filesystem::path& path);

  /// Creates the folder if necessary and locks it. Throws Error(bad_input) if another process holds
  /// the lock (naming that process), Error(environment) if the folder cannot be created.
  explicit RunFolder(std::filesystem::path path);
  RunFolder(const RunFolder&) = delete;
  RunFolder& operator=(const RunFolder&) = delete;
  ~RunFolder();  ///< unlocks

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path file(std::string_view name) const { return path_ / name; }

  /// Creates the folder `target` (relative: "variants/<key>") with these files (name, text)
  /// atomically. Does nothing if it exists.
  void write_folder(const std::filesystem::path& target,
                    const std::vector<std::pair<std::string, std::string>>& files,
                    bool sync) const;
  /// Points the link `best` at `target`, relative to the folder ("variants/<key>", "baseline").
  /// Atomic.
  void point_best(const std::filesystem::path& target) const;

 private:
  std::filesystem::path path_;
  int lock_ = -1;
};

}  // namespace warpath
