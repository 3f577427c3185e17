#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace warpath {

/// The library that records launches: beside the program in a bundle, an installation or a build
/// folder. Throws Error(environment) if there is none, or if the loader cannot be given its path.
[[nodiscard]] std::filesystem::path capture_library(const std::filesystem::path& program);

/// An application and what is to be recorded of it.
struct CapturedApplication {
  std::vector<std::string> command;   ///< the first word is looked up in PATH
  std::filesystem::path library;      ///< loaded before all others
  std::filesystem::path folder;       ///< of the record; absolute
  std::vector<std::string> contents;  ///< "KERNEL:PARAMETER"
};

/// Runs the application with this process's standard streams and waits for its end; Ctrl-C is the
/// application's. Returns its exit code, 128 + the number of a signal that ended it. Throws
/// Error(environment) if it cannot be started.
[[nodiscard]] int run_application(const CapturedApplication& application);

}  // namespace warpath
