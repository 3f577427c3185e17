#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "runners/worker/frames.h"
#include "runners/worker/process.h"

namespace warpath {

/// A worker that works on foreign text: with an empty environment, in an empty folder of its own,
/// without any descriptor but its standard ones, unable to write files or leave a core.
struct LockedWorker {
  std::vector<std::string> argv;   ///< argv[0]: absolute path of the program
  std::uint64_t memory_bytes = 0;  ///< address space; 0: no limit
};

/// How a worker ended.
struct WorkerEnd {
  bool signalled = false;
  int code = 0;                            ///< signal or exit status
  std::uint64_t peak_memory_bytes = 0;     ///< the most it had used
  [[nodiscard]] std::string text() const;  ///< "signal 11", "exit status 3"
};

/// What came of waiting for a worker. Unless it is a frame, the worker is gone.
struct WorkerReply {
  enum class Kind : std::uint8_t {
    frame,
    ended,    ///< by itself; what it said before was handed out
    damaged,  ///< it sent what is no frame, and was killed
    timed_out,
    stopped,
  };
  Kind kind = Kind::ended;
  std::string frame;
  WorkerEnd end;
};

/// A worker process, the stream of frames to it, and the watchdog over it. Killed with its process
/// group on destruction; another is started by making another. Not thread-safe.
class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;

  /// Each throws Error(environment) if no process, socket or folder can be had.
  explicit WorkerProcess(const ProcessSpec& spec);
  explicit WorkerProcess(const LockedWorker& worker);
  /// No process but a thread of this one, which must return once `fd` is at its end: it cannot be
  /// killed, and has no pid.
  explicit WorkerProcess(const std::function<void(int fd)>& body);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// The most bytes that a message of the worker may have from here on.
  void set_max_bytes(std::uint64_t max_bytes) { decoder_.set_max_bytes(max_bytes); }
  /// Queues a frame and writes what the stream takes now. `descriptor`, if it is not negative,
  /// travels with its first byte, and stays the caller's.
  void send(std::string frame, int descriptor = -1);
  /// True if the worker lives, as far as is known without waiting, and has said nothing that was
  /// not asked for.
  [[nodiscard]] bool idle();
  /// The next frame, while what is queued is written. At the deadline, or once `stop` is requested,
  /// the worker is killed.
  [[nodiscard]] WorkerReply wait(Clock::time_point deadline, const std::stop_token& stop = {});
  /// Likewise, for `seconds` from now.
  [[nodiscard]] WorkerReply wait(double seconds, const std::stop_token& stop = {});
  /// No more frames: gives it time to end by itself, then kills it.
  void finish(std::chrono::duration<double> grace);
  /// -1 where it is a thread.
  [[nodiscard]] pid_t pid() const { return child_ ? child_->pid() : -1; }

 private:
  /// A folder that goes when the child is gone.
  struct EmptyFolder {
    EmptyFolder();
    ~EmptyFolder();
    EmptyFolder(const EmptyFolder&) = delete;
    EmptyFolder& operator=(const EmptyFolder&) = delete;
    std::string path;
  };
  struct Outgoing {
    std::string bytes;
    std::size_t done = 0;
    int descriptor = -1;
  };

  [[nodiscard]] bool pump();
  [[nodiscard]] bool write_some(Outgoing& frame);
  [[nodiscard]] WorkerEnd end(std::chrono::duration<double> grace);

  std::optional<EmptyFolder> folder_;  // before the child, which lives in it
  std::optional<Child> child_;
  std::thread thread_;  // in place of a child
  int fd_ = -1;
  std::deque<Outgoing> outgoing_;
  FrameDecoder decoder_;
};

}  // namespace warpath
