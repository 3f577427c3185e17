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

#include "engine/base/temporary_folder.h"
#include "runners/worker/frames.h"
#include "runners/worker/process.h"

namespace warpath {

/// A worker that processes foreign text: started with an empty environment in an empty folder of
/// its own, with only the standard descriptors, and unable to write files or dump core.
struct LockedWorker {
  std::vector<std::string> argv;   ///< argv[0]: absolute path of the program
  std::uint64_t memory_bytes = 0;  ///< address-space limit; 0: none
  int niceness = 0;                ///< as in ProcessSpec
};

/// How a worker ended.
struct WorkerEnd {
  bool signalled = false;
  int code = 0;                            ///< signal or exit status
  std::uint64_t peak_memory_bytes = 0;     ///< peak resident set size
  [[nodiscard]] std::string text() const;  ///< "signal 11", "exit status 3"
};

/// The result of waiting for a worker. Unless it is `frame`, the worker has ended.
struct WorkerReply {
  enum class Kind : std::uint8_t {
    frame,
    ended,    ///< by itself; every frame it sent was delivered before
    damaged,  ///< it sent something other than a frame, and was killed
    timed_out,
    stopped,
  };
  Kind kind = Kind::ended;
  std::string frame;
  WorkerEnd end;
};

/// A worker process, the frame stream to it, and its watchdog. The destructor kills it with its
/// process group; to restart it, make a new object. Not thread-safe.
class WorkerProcess {
 public:
  using Clock = std::chrono::steady_clock;

  /// The constructors throw Error(environment) if the process, socket or folder cannot be created.
  explicit WorkerProcess(const ProcessSpec& spec);
  explicit WorkerProcess(const LockedWorker& worker);
  /// Runs `body` on a thread of this process instead; it must return once `fd` reads end of stream.
  /// Such a worker cannot be killed and has no pid.
  explicit WorkerProcess(const std::function<void(int fd)>& body);
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  /// Limits the size of messages the worker may send from now on.
  void set_max_bytes(std::uint64_t max_bytes) { decoder_.set_max_bytes(max_bytes); }
  /// Queues a frame and writes as much as the stream accepts without blocking. A non-negative
  /// `descriptor` is sent with the first byte and must stay open until then; the caller keeps
  /// ownership.
  void send(std::string frame, int descriptor = -1);
  /// True if the worker is alive, as far as can be told without waiting, and has sent nothing
  /// unsolicited.
  [[nodiscard]] bool idle();
  /// Returns the next frame, writing queued ones meanwhile. Kills the worker at the deadline or
  /// once `stop` is requested.
  [[nodiscard]] WorkerReply wait(Clock::time_point deadline, const std::stop_token& stop = {});
  /// As above, with a deadline `seconds` from now.
  [[nodiscard]] WorkerReply wait(double seconds, const std::stop_token& stop = {});
  /// Closes the sending side, gives the worker `grace` to exit, then kills it.
  void finish(std::chrono::duration<double> grace);
  /// -1 for a thread.
  [[nodiscard]] pid_t pid() const { return child_ ? child_->pid() : -1; }

 private:
  struct Outgoing {
    std::string bytes;
    std::size_t done = 0;
    int descriptor = -1;
  };

  [[nodiscard]] bool pump();
  [[nodiscard]] bool write_some(Outgoing& frame);
  [[nodiscard]] WorkerEnd end(std::chrono::duration<double> grace);

  std::optional<TemporaryFolder> folder_;  // before child_, which runs in it
  std::optional<Child> child_;
  std::thread thread_;  // in place of a child
  int fd_ = -1;
  std::deque<Outgoing> outgoing_;
  FrameDecoder decoder_;
};

}  // namespace warpath
