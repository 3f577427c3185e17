#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace warpath {

class ProgramSandbox;

/// A program to start. It runs in its own process group with exactly this environment, no
/// descriptors but 0, 1, 2 and `held`, and no core file, and is killed when this process ends for
/// any reason; what it started itself is not. argv[0] is looked up in the PATH of `environment`
/// unless it contains a slash.
struct ProcessSpec {
  std::vector<std::string> argv;
  std::vector<std::string> environment;  ///< "NAME=value"
  std::string directory = {};            ///< working folder; empty: the caller's
  std::int64_t memory_bytes = 0;         ///< address-space limit; 0: none
  std::int64_t file_bytes = 0;           ///< limit on the size of any file it writes; 0: none
  std::int64_t cpu_seconds = 0;  ///< CPU time limit; holds even if the starter is killed; 0: none
  std::int64_t open_files = 0;   ///< limit on its open descriptors; 0: the caller's
  const ProgramSandbox* sandbox = nullptr;  ///< entered before the program starts; null: none
  /// A descriptor that the program and what it starts keep open, as 4, so that its lock lasts as
  /// long as they do; -1: none.
  int held = -1;
  int niceness = 0;  ///< added to the caller's: from 0, as urgent as the caller, to 19
};

enum class ProcessEnd : std::uint8_t {
  exited,       ///< `code`: exit status
  signalled,    ///< `code`: signal number
  timed_out,    ///< killed at the time limit
  too_verbose,  ///< killed at the output limit
  stopped,      ///< killed on request
};

struct ProcessResult {
  ProcessEnd end = ProcessEnd::exited;
  int code = 0;
  std::string output;  ///< stdout and stderr together, up to the limit
  double seconds = 0;
};

/// The last line of a program's output that is not blank, without what surrounds it.
[[nodiscard]] std::string last_line(std::string_view output);

/// Runs a program with empty input until it exits or reaches a limit; its whole process group is
/// gone on return. Throws Error(environment) naming the program if it cannot be started.
/// Thread-safe.
[[nodiscard]] ProcessResult run_process(const ProcessSpec& spec,
                                        std::chrono::duration<double> limit,
                                        std::size_t output_limit_bytes,
                                        const std::stop_token& stop = {});

/// A long-lived child whose standard input and output are one stream socket to this process; its
/// stderr is discarded. The destructor kills its process group and reaps it. Not thread-safe.
class Child {
 public:
  /// Throws Error(environment) if the program cannot be started.
  explicit Child(const ProcessSpec& spec);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// This process's end of the socket; non-blocking.
  [[nodiscard]] int fd() const { return socket_; }
  /// Kills the process group and reaps the child; returns its wait status (as of waitpid). Later
  /// calls return the same status.
  int kill();
  /// Waits up to `limit` for the child to exit, then kills it; returns its wait status.
  int wait(std::chrono::duration<double> limit);
  /// True if it has ended, by itself or killed.
  [[nodiscard]] bool ended() const;
  /// Peak resident set size, in bytes; valid once the child has been reaped.
  [[nodiscard]] std::uint64_t peak_memory_bytes() const { return peak_memory_bytes_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
  bool reaped_ = false;
  int status_ = 0;
  std::uint64_t peak_memory_bytes_ = 0;
};

}  // namespace warpath
