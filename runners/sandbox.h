#pragma once

#include <string>

namespace warpath {

/// What holds a locked-down process. Both are tried; either keeps it from the file system.
struct Sandbox {
  int landlock = 0;      ///< version of the kernel's interface; 0: not offered
  bool seccomp = false;  ///< opening and probing files, sockets and starting programs answer EACCES
  [[nodiscard]] bool blocks_files() const { return landlock > 0 || seccomp; }
  /// "landlock 4, seccomp", or "none" where the kernel offers neither.
  [[nodiscard]] std::string summary() const;
};

/// From here on this process and the threads it starts can open or probe no file, connect to nothing and start no program;
/// descriptors that are open stay usable. For good. Threads that run already are not covered: call it before starting any.
[[nodiscard]] Sandbox lock_down();

/// What lock_down() would find here, tried in a child process.
[[nodiscard]] Sandbox probe_sandbox();

}  // namespace warpath
