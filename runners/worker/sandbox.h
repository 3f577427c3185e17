#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace warpath {

/// What confines a process. Either of the two keeps it from the file system and from other
/// processes.
struct Sandbox {
  int landlock = 0;      ///< version of the kernel's interface; 0: not offered
  bool seccomp = false;  ///< system calls that reach outside the process answer EACCES
  [[nodiscard]] bool blocks_files() const { return landlock > 0 || seccomp; }
  /// "landlock 4, seccomp", or "none" where the kernel offers neither.
  [[nodiscard]] std::string summary() const;
  /// What the kernel does not offer: "landlock", "seccomp", "landlock and seccomp"; empty where
  /// both hold.
  [[nodiscard]] std::string missing() const;
  bool operator==(const Sandbox&) const = default;
};

/// From here on this process and the threads it starts can open or probe no file, connect to
/// nothing, start no process and signal none; descriptors that are open stay usable. For good.
/// Threads that run already are not covered: call it before starting any.
[[nodiscard]] Sandbox lock_down();

/// For a process that is about to run foreign machine code: as `lock_down`, but every system call
/// is refused that does not compute, wait, manage this process's own memory, or read and write open
/// descriptors; no thread can be started any more. `openat` and `newfstatat`, with which the
/// dynamic loader reads a library, raise SIGSYS instead (si_code SYS_SECCOMP), so that a handler
/// may answer them. In two steps:
class ComputeOnly {
 public:
  /// Before any thread is started. Where the kernel offers landlock but no seccomp, files below the
  /// working folder stay readable, because then no handler can answer the loader.
  ComputeOnly();
  /// Once every thread runs: holds for all of them.
  [[nodiscard]] Sandbox seal();

 private:
  Sandbox sandbox_;
};

/// The confinement of a program that is started on foreign text (a compiler): it may read, write
/// and execute only what is listed, use no network, signal and inspect no other process, and gain
/// no privilege. Its children inherit this. Immutable; thread-safe.
class ProgramSandbox {
 public:
  struct Access {
    std::vector<std::string> read;     ///< files, and folders with all below them
    std::vector<std::string> execute;  ///< may be started (and read)
    std::vector<std::string> write;    ///< may be read, written, made and removed
  };
  /// Paths that do not exist are left out.
  explicit ProgramSandbox(const Access& access);
  ~ProgramSandbox();
  ProgramSandbox(const ProgramSandbox&) = delete;
  ProgramSandbox& operator=(const ProgramSandbox&) = delete;
  /// What `enter` will find.
  [[nodiscard]] const Sandbox& sandbox() const { return sandbox_; }
  /// Confines the calling process. Between fork and exec: makes system calls only.
  void enter() const noexcept;

 private:
  int ruleset_ = -1;
  Sandbox sandbox_;
};

/// What a confined process would find here, tried in a child process.
[[nodiscard]] Sandbox probe_sandbox();

}  // namespace warpath
