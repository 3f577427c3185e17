#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runners/cuda/lanes/device_lane.h"
#include "runners/cuda/lanes/device_lock.h"

namespace warpath::cuda {

/// One device of the runner, its lock, and its last state. Used by one thread at a time.
struct Lane {
  explicit Lane(const LaneSetup& one) : setup(one), device(one) {}

  /// Takes the lock of the GPU `uuid` (empty: nothing to lock) once, reporting on stderr whom it
  /// waits for. Throws Error(environment) if it is held and `waits` is false. If the lock file
  /// cannot be created, reports that and continues without a lock.
  void claim(const std::string& uuid, bool waits);
  /// Must be held while something runs on the device: engines of one process, and lanes that turn
  /// out to be the same device, take turns.
  [[nodiscard]] std::unique_lock<std::mutex> turn();
  /// Reports once, on stderr, the other processes that `reply` found on the device.
  void tell_neighbours(const TrialReply& reply);

  const LaneSetup setup;
  std::shared_ptr<DeviceLock> lock;  ///< outlives the workers
  DeviceLane device;
  const void* problem = nullptr;  ///< address of the problem placed there
  std::uint64_t rival_version = 0;
  int restarts = 0;
  /// by workload, on this device; absent: not measured yet
  std::map<std::string, double> baseline_ns;
  double busy_seconds = 0;
  bool told = false;
};

/// Claims this machine's devices among `lanes` before anything opens a context on them, in an order
/// common to all engines, which prevents deadlock. Remote devices are identified when opened.
void claim_local_devices(const std::vector<std::unique_ptr<Lane>>& lanes, bool waits);

}  // namespace warpath::cuda
