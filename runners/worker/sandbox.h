#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace warpath {

/// The confinement of a process. Landlock and seccomp each suffice to block access to files and
/// other processes.
struct Sandbox {
  int landlock = 0;      ///< ABI version; 0: not available
  bool seccomp = false;  ///< system calls that reach outside the process fail with EACCES
  [[nodiscard]] bool blocks_files() const { return landlock > 0 || seccomp; }
  /// "landlock 4, seccomp", or "none".
  [[nodiscard]] std::string summary() const;
  /// What is not available: "landlock", "seccomp", "landlock and seccomp"; empty if both are.
  [[nodiscard]] std::string missing() const;
  bool operator==(const Sandbox&) const = default;
};

/// Confines this process irrevocably: the calling thread and the threads it starts can no longer
/// open or stat files, connect, start processes or signal them; open descriptors stay usable.
/// Threads that already run are not covered, so call it before starting any.
[[nodiscard]] Sandbox lock_down();

/// Confinement for a process that is about to run foreign machine code. Stricter than `lock_down`:
/// only system calls that compute, wait, manage the process's own memory, or read and write open
/// descriptors are permitted; not even threads can be started. `openat` and `newfstatat`, which the
/// dynamic loader uses to read a library, raise SIGSYS (si_code SYS_SECCOMP) so that a handler can
/// emulate them. A system call of code that is loaded later ends the process. Applied in two steps:
class ComputeOnly {
 public:
  /// Call before any thread is started. If the kernel offers landlock but not seccomp, files below
  /// the working folder stay readable, because no handler can then serve the loader.
  ComputeOnly();
  /// Call once every thread runs; applies to all of them.
  [[nodiscard]] Sandbox seal();

 private:
  Sandbox sandbox_;
};

/// Confinement of a program that processes foreign text (a compiler): it can read, write and
/// execute only the listed paths, cannot use the network, cannot signal or inspect other processes,
/// and cannot gain privileges. Inherited by its children. Immutable; thread-safe.
class ProgramSandbox {
 public:
  struct Access {
    std::vector<std::string> read;     ///< files, and folders with everything below them
    std::vector<std::string> execute;  ///< may be executed and read
    std::vector<std::string> write;    ///< may be read, written, created and removed
  };
  /// Ignores paths that do not exist.
  explicit ProgramSandbox(const Access& access);
  ~ProgramSandbox();
  ProgramSandbox(const ProgramSandbox&) = delete;
  ProgramSandbox& operator=(const ProgramSandbox&) = delete;
  /// The confinement that `enter` will give.
  [[nodiscard]] const Sandbox& sandbox() const { return sandbox_; }
  /// Confines the calling process. Safe between fork and exec: makes system calls only.
  void enter() const noexcept;

 private:
  int ruleset_ = -1;
  Sandbox sandbox_;
};

/// The confinement that `lock_down` gives on this machine, tried in a child process.
[[nodiscard]] Sandbox probe_sandbox();

}  // namespace warpath
