#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stop_token>
#include <string>
#include <vector>

namespace warpath {

class ProgramSandbox;

/// A program to start: in a process group of its own, with exactly this environment, no descriptor
/// beyond 0, 1 and 2, and no core file; killed when this process ends, however it ends. argv[0] is
/// looked up in the PATH of `environment` unless it holds a slash.
struct ProcessSpec {
  std::vector<std::string> argv;
  std::vector<std::string> environment;     ///< "NAME=value"
  std::string directory = {};               ///< working folder; empty: the caller's
  std::int64_t memory_bytes = 0;            ///< address-space limit; 0: none
  std::int64_t file_bytes = 0;              ///< limit on any file it writes; 0: none
  std::int64_t cpu_seconds = 0;             ///< ends it even when its starter was killed; 0: none
  std::int64_t open_files = 0;              ///< limit on its descriptors; 0: the caller's
  const ProgramSandbox* sandbox = nullptr;  ///< entered before the program starts; null: none
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

/// Runs a program with empty input to its end or a limit; the whole process group is gone when it
/// returns. Throws Error(environment) if it cannot be started, naming the program. Thread-safe.
[[nodiscard]] ProcessResult run_process(const ProcessSpec& spec,
                                        std::chrono::duration<double> limit,
                                        std::size_t output_limit_bytes,
                                        const std::stop_token& stop = {});

/// A long-lived child that is spoken to through its standard input and output (one stream socket);
/// its stderr is discarded. Killed with its process group and reaped on destruction. Not
/// thread-safe.
class Child {
 public:
  /// Throws Error(environment) if the program cannot be started.
  explicit Child(const ProcessSpec& spec);
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// The stream; it does not block.
  [[nodiscard]] int fd() const { return socket_; }
  /// Kills the group and reaps the child; returns its wait status (as of waitpid). Later calls
  /// return the same.
  int kill();
  /// Waits up to `limit` for the child to end by itself, then kills it. Wait status.
  int wait(std::chrono::duration<double> limit);
  /// After its end: the memory it had used at most.
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
