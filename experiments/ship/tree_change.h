#pragma once

#include <filesystem>
#include <string>

#include "experiments/ship/export_folder.h"
#include "experiments/ship/project_file.h"

namespace warpath {

/// A change of an application's tree that can be taken back byte for byte, also after this process
/// was killed: what is needed for that is on disk before the tree is touched.
///
///   ROOT/.warpath-deploy/backup        the target file as it was
///                        journal.json  what is changed, and to what
///                        export        the exported folder while the tree is as it was
///
/// Not thread-safe; one change of a tree at a time, which the folder itself ensures.
class TreeChange {
 public:
  /// Records the change and touches nothing else. `after`: new text of the target file; `exported`:
  /// files of the project's export folder, empty: none. Throws Error(bad_input) if the tree has a
  /// change already or the export folder exists, Error(environment) if nothing can be written.
  TreeChange(const Project& project,
             std::string before,
             std::string after,
             FolderFiles exported,
             const std::string& run);

  /// Writes the changed files to the tree, or the original ones.
  void put(bool changed);
  [[nodiscard]] bool is_changed() const { return changed_; }
  /// True if the change was ever applied: build products may be stale even after a revert.
  [[nodiscard]] bool was_changed() const { return was_changed_; }
  /// The change stays; `report` (JSON) is kept in the journal. It can still be reverted.
  void keep(const std::string& report);
  /// Makes the tree as it was and forgets the change.
  void drop();

  /// Takes back the change that the tree has, whoever made it and however far it came. Throws
  /// Error(bad_input) if there is none, or if a changed file was edited since, naming it and the
  /// backup; nothing is touched then.
  static void revert(const Project& project);
  /// The tree has a change that stays, by keep(): no command of its deployment runs any more.
  [[nodiscard]] static bool is_kept(const Project& project);
  /// The tree has a change, finished or not.
  [[nodiscard]] static bool has_change(const Project& project);

 private:
  void write_target(const std::string& text) const;

  const Project& project_;
  std::filesystem::path target_, folder_;
  std::filesystem::perms mode_;
  std::string before_, after_, journal_;
  FolderFiles exported_;
  bool changed_ = false, was_changed_ = false;
};

}  // namespace warpath
