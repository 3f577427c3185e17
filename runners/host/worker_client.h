#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "runners/host/fault.h"
#include "runners/host/options.h"
#include "runners/host/worker_protocol.h"
#include "runners/worker/process.h"
#include "runners/worker/sandbox.h"

namespace warpath::host {

/// Why a request to a worker has no reply.
struct WorkerLoss {
  enum class Kind : std::uint8_t { timed_out, stopped, signalled, exited, out_of_memory };
  Kind kind = Kind::exited;
  int code = 0;                      ///< signal or exit status
  std::optional<FaultRecord> fault;  ///< what the worker could still say
  /// By a signal that neither a kernel's fault nor the engine sends: SIGKILL, as from the system
  /// when memory is short.
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

/// A worker process, started when first needed and again after every loss. Not thread-safe: one for
/// each lane.
class WorkerClient {
 public:
  /// `program`: the executable whose `worker host` verb is worker_main().
  WorkerClient(std::string program, const HostOptions& options);

  using Limit = std::chrono::duration<double>;
  /// `kernel`: the entry that launches run; the `steps` entries behind it are kernels of steps.
  [[nodiscard]] Answer<LoadReply> load(const std::string& object_path,
                                       std::size_t kernel,
                                       Limit limit,
                                       const std::stop_token& stop,
                                       std::size_t steps = 0);
  [[nodiscard]] std::optional<WorkerLoss> bind(const std::vector<BoundArgument>& arguments,
                                               Limit limit,
                                               const std::stop_token& stop);
  [[nodiscard]] Answer<LaunchReply> launch(const LaunchCommand& command,
                                           Limit limit,
                                           const std::stop_token& stop);
  [[nodiscard]] Answer<LaunchReply> time(const TimeCommand& command,
                                         Limit limit,
                                         const std::stop_token& stop);
  /// What confines the worker; starts one if there is none. Throws Error(environment) if it cannot
  /// be started.
  [[nodiscard]] const Sandbox& sandbox();
  /// Ends the process; the next request starts a new one.
  void reset() { child_.reset(); }
  /// Number of processes started so far.
  [[nodiscard]] int started() const { return started_; }

 private:
  struct Raw {
    std::vector<std::byte> message;  ///< behind its first byte
    std::optional<WorkerLoss> loss;
  };
  [[nodiscard]] Raw exchange(const std::vector<std::byte>& request,
                             Limit limit,
                             const std::stop_token& stop,
                             int descriptor = -1);
  [[nodiscard]] WorkerLoss lose(Child::Io why);
  void start();

  std::string program_;
  HostOptions options_;
  std::unique_ptr<Child> child_;
  Sandbox sandbox_;
  int started_ = 0;
};

/// CPU threads that run the blocks of a launch under `options`.
[[nodiscard]] int block_threads(const HostOptions& options);

}  // namespace warpath::host
