#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/spec/parameters.h"
#include "runners/host/execute/fault.h"
#include "runners/host/execute/worker_protocol.h"
#include "runners/host/options.h"
#include "runners/worker/sandbox.h"
#include "runners/worker/worker_process.h"

namespace warpath::host {

/// Why a request to a worker has no reply.
struct WorkerLoss {
  /// damaged: it sent something unsolicited or malformed
  enum class Kind : std::uint8_t { timed_out, stopped, signalled, exited, out_of_memory, damaged };
  Kind kind = Kind::exited;
  int code = 0;                           ///< signal or exit status
  std::optional<FaultRecord> fault = {};  ///< the worker's last report, if any
  /// True for SIGKILL without a fault record: a signal that neither a kernel's fault nor the engine
  /// sends, but the system does when memory is short.
  [[nodiscard]] bool killed_from_outside() const {
    return kind == Kind::signalled && code == 9 && !fault;
  }
};

/// A reply, or why there is none.
template <class Reply>
struct Answer {
  Reply reply;
  std::optional<WorkerLoss> loss;
};

/// A worker process, started on first use and restarted after every loss. Not thread-safe: use one
/// per lane.
class WorkerClient {
 public:
  /// `program`: the executable whose verb `worker host` runs worker_main().
  WorkerClient(std::string program, const HostOptions& options);

  using Limit = std::chrono::duration<double>;
  /// `kernel`: index of the entry to launch; the `steps` entries after it are kernels of steps.
  [[nodiscard]] Answer<LoadReply> load(const std::string& object_path,
                                       std::size_t kernel,
                                       Limit limit,
                                       const std::stop_token& stop,
                                       std::size_t steps = 0);
  /// `parameters`: how the main kernel takes the arguments, if in structs.
  [[nodiscard]] std::optional<WorkerLoss> bind(const std::vector<BoundArgument>& arguments,
                                               Limit limit,
                                               const std::stop_token& stop,
                                               const std::vector<ParameterLayout>& parameters = {});
  [[nodiscard]] Answer<LaunchReply> launch(const LaunchCommand& command,
                                           Limit limit,
                                           const std::stop_token& stop);
  [[nodiscard]] Answer<LaunchReply> time(const TimeCommand& command,
                                         Limit limit,
                                         const std::stop_token& stop);
  /// The worker's confinement; starts a worker if there is none. Throws Error(environment) if it
  /// cannot be started.
  [[nodiscard]] const Sandbox& sandbox();
  /// Ends the process; the next request starts a new one.
  void reset() { worker_.reset(); }
  /// Number of processes started so far.
  [[nodiscard]] int started() const { return started_; }

 private:
  template <class Expected>
  [[nodiscard]] Answer<Expected> exchange(std::string request,
                                          Limit limit,
                                          const std::stop_token& stop,
                                          int descriptor = -1);
  void start();

  std::string program_;
  HostOptions options_;
  std::unique_ptr<WorkerProcess> worker_;
  std::uint64_t output_bytes_ = 0;  // of the bound arguments
  Sandbox sandbox_;
  int started_ = 0;
};

/// Number of CPU threads that run the blocks of a launch under `options`.
[[nodiscard]] int block_threads(const HostOptions& options);

}  // namespace warpath::host
