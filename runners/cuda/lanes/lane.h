#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "runners/cuda/lanes/device_lane.h"
#include "runners/cuda/lanes/device_lock.h"

namespace warpath::cuda {

/// One device of the runner, the right to use it, and what it was told last. One thread at a time
/// has a lane.
struct Lane {
  explicit Lane(const LaneSetup& one) : setup(one), device(one) {}

  /// Takes the lock of the GPU `uuid` (empty: there is none to take), once; says on stderr for whom
  /// it waits. Throws Error(environment) where it is taken and `waits` is false. Where there can be
  /// no lock file that is said, and the lane goes on without.
  void claim(const std::string& uuid, bool waits);
  /// Held while something runs on the device: engines of one process, and lanes that prove to be
  /// one device, take turns.
  [[nodiscard]] std::unique_lock<std::mutex> turn();
  /// Says on stderr, once, what other processes `reply` found on the device.
  void tell_neighbours(const TrialReply& reply);

  const LaneSetup setup;
  std::shared_ptr<DeviceLock> lock;  ///< outlives the workers
  DeviceLane device;
  const void* problem = nullptr;  ///< that is placed there: its address
  std::uint64_t rival_version = 0;
  int restarts = 0;
  /// by workload, on this device; empty: not measured yet
  std::map<std::string, double> baseline_ns;
  double busy_seconds = 0;
  bool told = false;
};

/// Claims the devices of this machine among `lanes` before anything opens a context there, in an
/// order that all engines keep, so that no two wait for each other. The others tell which they are
/// when they are opened.
void claim_local_devices(const std::vector<std::unique_ptr<Lane>>& lanes, bool waits);

}  // namespace warpath::cuda
