#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace warpath {

/// The system's folder for temporary files: TMPDIR, else /tmp. Throws Error(environment) if it is
/// no folder.
[[nodiscard]] std::filesystem::path temporary_root();

/// A new folder that only this user may enter, removed with all that it holds at the end.
class TemporaryFolder {
 public:
  /// ROOT/warpath-<what>-<process>-XXXXXX. Throws Error(environment) if it cannot be made.
  explicit TemporaryFolder(std::string_view what = "scratch");
  TemporaryFolder(std::string_view what, const std::filesystem::path& root);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }

  /// Removes the folders of `what` in `root` whose process has ended without doing so. In a folder
  /// that machines share, `what` names the machine.
  static void remove_leftovers(std::string_view what,
                               const std::filesystem::path& root = temporary_root());

 private:
  std::filesystem::path path_;
};

}  // namespace warpath
