#pragma once

#include <functional>
#include <mutex>
#include <vector>

namespace warpath::cuda {

/// Work with tools that several threads have for a device, done side by side in one turn on it:
/// while one of them waits for the device, others join it. Thread-safe.
class ToolTurn {
 public:
  using Work = std::function<void(int gpu)>;
  /// Gets a device, calls what it is given with its index, and frees the device; does not call it
  /// where it gets none. Must not throw.
  using Turn = std::function<void(const Work&)>;
  /// Returns once `work` is done, or one of those who wait, whose `turn` is used for all, got no
  /// device. `work` runs in a thread of its own and must not throw.
  void run(Work work, const Turn& turn);

 private:
  struct Waiting;
  std::mutex mutex_;
  std::vector<Waiting*> waiting_;
  bool has_leader_ = false;
};

}  // namespace warpath::cuda
