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

/// How the workers of one device are reached.
struct LaneSetup {
  std::string label;              ///< for messages: "GPU 0", "ssh host warpath worker device"
  std::vector<std::string> argv;  ///< of a worker; empty: in a thread of this process
  int gpu = 0;                    ///< index on this machine
  bool is_local = false;          ///< `gpu` is its index
  std::string options;            ///< all options as JSON
  double prepare_seconds = 600;   ///< for placing a spec; a longer one ends the worker
  /// likewise; references may be computed on the host, launches come on top
  double evaluation_seconds = 120;
  bool spare = true;  ///< a second worker stands by
};

/// One device as the engine sees it: a worker process that evaluates, a spare that stands by with a
/// context of its own, and a watchdog. A worker that faults, hangs or dies is killed and the spare
/// takes its place. One thread at a time.
class DeviceLane {
 public:
  explicit DeviceLane(LaneSetup setup);

  /// Starts a worker. Throws Error(environment) where the device cannot be used.
  const DeviceHello& open();
  /// What every worker is given before it evaluates; kept for those that follow.
  void equip(DeviceTools tools);
  /// Places a spec. Throws Error(environment) where that fails.
  void prepare(const PrepareProblem& problem);

  /// What one evaluation became. `trouble` in it is never of the candidate: the device has failed,
  /// or `stop` was requested. Throws Error(environment) once the device has failed three times in a
  /// row without a candidate to blame.
  [[nodiscard]] TrialReply evaluate(const Evaluate& request, const std::stop_token& stop);

  /// Ends the worker in good order and waits for it.
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
  std::unique_ptr<Link> link_;  // null: none, or it was given up
  std::unique_ptr<Link> spare_;
  std::optional<DeviceHello> hello_;
  std::optional<DeviceTools> tools_;
  std::optional<PrepareProblem> problem_;
  bool equipped_ = false, prepared_ = false;  // of link_
  int restarts_ = 0;
  int failures_ = 0;  // in a row, without a candidate

 public:
  ~DeviceLane();
};

}  // namespace warpath::cuda
