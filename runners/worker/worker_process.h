#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runners/worker/frames.h"
#include "runners/worker/process.h"

namespace warpath {

/// How a worker is started: with an empty environment, in an empty folder of its own, without any
/// descriptor but its standard ones, unable to write files or leave a core.
struct WorkerCommand {
  std::vector<std::string> argv;   ///< argv[0]: absolute path of the program
  std::uint64_t memory_bytes = 0;  ///< address space; 0: no limit
};

/// A Child that is spoken to in frames by a thread that serves many at once: nothing here blocks.
/// It dies with the thread that started it. Not thread-safe.
class WorkerProcess {
 public:
  /// Throws Error(environment) if no process, socket or folder can be had.
  explicit WorkerProcess(const WorkerCommand& command);

  /// For poll(): always interested in input, in output while `wants_to_write()`.
  [[nodiscard]] int fd() const { return child_.fd(); }
  [[nodiscard]] bool wants_to_write() const { return !outgoing_.empty(); }
  /// Queues a frame and writes what the socket takes now.
  void send(std::string_view payload);
  /// Writes and reads what is possible now. False once the stream is at its end or damaged: frames
  /// that came before are still handed out.
  [[nodiscard]] bool pump();
  /// The next frame that has arrived whole.
  [[nodiscard]] std::optional<std::string> receive() { return decoder_.next(); }
  /// SIGKILL, and waits for the end; how it ended, as of waitpid. Later calls return the same.
  int kill() { return child_.kill(); }
  /// After `kill()`: the memory it had used at most.
  [[nodiscard]] std::uint64_t peak_memory_bytes() const { return child_.peak_memory_bytes(); }
  [[nodiscard]] pid_t pid() const { return child_.pid(); }

 private:
  /// An empty folder that goes when the child is gone.
  struct EmptyFolder {
    EmptyFolder();
    ~EmptyFolder();
    EmptyFolder(const EmptyFolder&) = delete;
    EmptyFolder& operator=(const EmptyFolder&) = delete;
    std::string path;
  };

  EmptyFolder folder_;  // before the child, which lives in it
  Child child_;
  std::string outgoing_;
  FrameDecoder decoder_;
};

}  // namespace warpath
