#pragma once

#include <stop_token>
#include <string>
#include <utility>

#include "experiments/ship/project_file.h"

namespace warpath {

/// A stop was requested while a command ran.
struct Interrupted {};

/// Runs the commands of a project in its root, by /bin/sh, with this process's environment. Each
/// throws Interrupted at a stop request; what a command started is gone then. What it started
/// outlives a kill of this process, and holds a lock of the root as long. Not thread-safe.
class Application {
 public:
  Application(const Project& project, std::stop_token stop);
  ~Application();
  Application(const Application&) = delete;
  Application& operator=(const Application&) = delete;

  /// Waits until no command of any process runs in the root, at most the project's
  /// timeout_seconds; one that still runs then is an Error(environment). Where the root's file
  /// system has no locks it does not wait. Call it without an Application of one's own.
  static void wait_for_commands(const Project& project, const std::stop_token& stop);

  /// Empty, or how it failed with the last lines that it printed.
  [[nodiscard]] std::string build() const;
  [[nodiscard]] std::string test() const;
  /// Seconds, or what the benchmark printed (of a rate: its reciprocal), above 0; 0 with the
  /// problem in `why`.
  [[nodiscard]] double time(std::string& why) const;

 private:
  struct Ran {
    std::string problem, output;
    double seconds = 0;
  };
  [[nodiscard]] Ran run(const std::string& what, const std::string& command) const;

  const Project& project_;
  std::stop_token stop_;
  int lock_;  ///< of the root, shared where its file system has locks
};

}  // namespace warpath
