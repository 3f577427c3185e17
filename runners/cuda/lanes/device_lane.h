#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "runners/cuda/measure/messages.h"

namespace warpath::cuda {

/// How to reach the workers of one device.
struct LaneSetup {
  std::string label;              ///< for messages: "GPU 0", "ssh host warpath worker device"
  std::vector<std::string> argv;  ///< command line of a worker; empty: a thread of this process
  int gpu = 0;                    ///< index on this machine
  bool is_local = false;          ///< `gpu` is the local index
  std::string options;            ///< all options as JSON
  double prepare_seconds = 600;   ///< limit on placing a spec; exceeding it ends the worker
  /// limit on one evaluation, to which launches are added; references may be computed on the host
  double evaluation_seconds = 120;
  bool spare = true;  ///< keep a second worker on standby
};

/// One device: a worker process that evaluates, a spare on standby with a context of its own, and a
/// watchdog. A worker that faults, hangs or dies is killed and the spare replaces it. Not
/// thread-safe.
class DeviceLane {
 public:
  explicit DeviceLane(LaneSetup setup);

  /// Starts a worker. Throws Error(environment) if the device cannot be used.
  const DeviceHello& open();
  /// Sets what every worker, including later ones, receives before it evaluates.
  void equip(DeviceTools tools);
  /// Places a spec. Throws Error(environment) if that fails.
  void prepare(const PrepareProblem& problem);

  /// The result of one evaluation. A `trouble` in it is not the candidate's fault: the device
  /// failed or `stop` was requested. Throws Error(environment) once the device has failed three
  /// times in a row without a candidate to blame.
  [[nodiscard]] TrialReply evaluate(const Evaluate& request, const std::stop_token& stop);

  /// Shuts the worker down and waits for it.
  void close();

  [[nodiscard]] const std::string& label() const { return setup_.label; }
  [[nodiscard]] int restarts() const { return restarts_; }
  [[nodiscard]] bool failed() const { return failures_ >= kMostFailures; }

 private:
  static constexpr int kMostFailures = 3;
  class Link;

  [[nodiscard]] std::unique_ptr<Link> start() const;
  void ensure_ready();
  void retire();

  const LaneSetup setup_;
  std::unique_ptr<Link> link_;  // null: none, or given up
  std::unique_ptr<Link> spare_;
  std::optional<DeviceHello> hello_;
  std::optional<DeviceTools> tools_;
  std::optional<PrepareProblem> problem_;
  bool equipped_ = false, prepared_ = false;  // state of link_
  int restarts_ = 0;
  int failures_ = 0;  // consecutive, without a candidate to blame

 public:
  ~DeviceLane();
};

}  // namespace warpath::cuda
