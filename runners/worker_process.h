#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runners/frames.h"

namespace warpath {

/// How a worker is started: with an empty environment, in an empty folder of its own, without any descriptor but its
/// standard ones, unable to write files or leave a core.
struct WorkerCommand {
  std::vector<std::string> argv;   ///< argv[0]: absolute path of the program
  std::uint64_t memory_bytes = 0;  ///< address space; 0: no limit
};

/// A child that is spoken to in frames over its standard input and output (one socket; its stderr is discarded) by a thread that
/// serves many at once: nothing here blocks. Killed and reaped on destruction; it also dies with the thread that started it.
/// Not thread-safe.
class WorkerProcess {
 public:
  /// Throws Error(environment) if no process, socket or folder can be had.
  explicit WorkerProcess(const WorkerCommand& command);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// For poll(): always interested in input, in output while `wants_to_write()`.
  [[nodiscard]] int fd() const { return socket_; }
  [[nodiscard]] bool wants_to_write() const { return !outgoing_.empty(); }
  /// Queues a frame and writes what the socket takes now.
  void send(std::string_view payload);
  /// Writes and reads what is possible now. False once the stream is at its end or damaged: frames that came before are still
  /// handed out.
  [[nodiscard]] bool pump();
  /// The next frame that has arrived whole.
  [[nodiscard]] std::optional<std::string> receive() { return decoder_.next(); }
  /// SIGKILL, and waits for the end. Later calls do nothing.
  void kill();
  /// After `kill()`: how it ended, as of waitpid, and the memory it had used at most.
  [[nodiscard]] int wait_status() const { return status_; }
  [[nodiscard]] std::uint64_t peak_memory_bytes() const { return peak_memory_bytes_; }
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  pid_t pid_ = -1;
  int socket_ = -1;
  std::string folder_;
  std::string outgoing_;
  FrameDecoder decoder_;
  int status_ = 0;
  std::uint64_t peak_memory_bytes_ = 0;
};

}  // namespace warpath
