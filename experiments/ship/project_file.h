#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace warpath {

/// An application that a kernel is deployed into, as `--project FILE` describes it
/// (docs/deploy.md). Paths are relative to `root`.
struct Project {
  std::filesystem::path root;  ///< absolute, without links
  std::string target_file;     ///< holds the kernel, or what `patch` changes
  std::string patch;           ///< file with the change of target_file; empty: the kernel's own
  std::string export_folder;   ///< gets the exported folder; empty: none
  std::vector<std::string> context_files;  ///< must stay as they are meanwhile
  bool accept_contract = false;
  std::string build_command, test_command, benchmark_command;
  std::string timing_mode = "wall";  ///< "wall", "printed", "printed_rate"
  std::string timing_pattern;
  double timeout_seconds = 600;  ///< of one command
  int pairs = 10;
  double min_gain = 0.02;

  [[nodiscard]] std::filesystem::path at(const std::string& file) const { return root / file; }
};

/// Reads and checks it. Throws Error(bad_input) naming file, key, value and what was expected: also
/// for a path that leaves `root`, or a target, context file or patch that is no file.
[[nodiscard]] Project read_project(const std::string& file);

}  // namespace warpath
