#pragma once

#include <functional>
#include <mutex>
#include <vector>

namespace warpath::cuda {

/// Runs tools of several threads on a device side by side in one turn: while one thread waits for
/// the device, others join it. Thread-safe.
class ToolTurn {
 public:
  using Work = std::function<void(int gpu)>;
  /// Acquires a device, calls its argument with the device's index, and releases the device; does
  /// not call it if it gets none. Must not throw.
  using Turn = std::function<void(const Work&)>;
  /// Returns once `work` is done, or once the joined thread whose `turn` is used for all got no
  /// device. `work` runs in a thread of its own and must not throw.
  void run(Work work, const Turn& turn);

 private:
  struct Waiting;
  std::mutex mutex_;
  std::vector<Waiting*> waiting_;
  bool has_leader_ = false;
};

}  // namespace warpath::cuda
