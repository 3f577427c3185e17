#pragma once

#include <map>
#include <mutex>
#include <string>

#include "engine/plugin/outcome.h"
#include "runners/replay/virtual_lab.h"

namespace warpath {

/// Sums the seconds that recorded evaluations took, over a number of virtual devices. Thread-safe.
class VirtualClock {
 public:
  explicit VirtualClock(int devices) : devices_(devices) {}

  [[nodiscard]] int devices() const { return devices_; }
  void charge(double seconds) {
    const std::lock_guard lock(mutex_);
    charged_ += seconds;
  }
  /// For Runner::figures.
  [[nodiscard]] std::map<std::string, double> figures() const {
    const std::lock_guard lock(mutex_);
    return {{"virtual_seconds", charged_ / devices_}};
  }

 private:
  int devices_;
  mutable std::mutex mutex_;
  double charged_ = 0;
};

/// "mean" or "draw"; throws Error(bad_input) for another text.
[[nodiscard]] Served served_by(const std::string& text);
/// The gate result of a recorded outcome.
[[nodiscard]] GateResult recorded_gate(Status status);
/// The outcome of a variant that is not in the recording `name`; it costs no time.
[[nodiscard]] Outcome unrecorded(const std::string& name);

}  // namespace warpath
