#pragma once

#include <algorithm>
#include <cmath>
#include <mutex>

namespace warpath::cuda {

/// Tracks how long recent candidates take, to decide how many to keep in flight. Thread-safe.
class Pace {
 public:
  void built(double seconds) { blend(building_, seconds); }
  void measured(double seconds) { blend(measuring_, seconds); }

  /// By Little's law: what is built while one candidate is measured, plus two, per device, so that
  /// queues never run dry. `most` until a candidate has been measured.
  [[nodiscard]] int useful(std::size_t devices, int most) const {
    const std::lock_guard lock(mutex_);
    if (measuring_ <= 0) return most;
    const double wanted = static_cast<double>(devices) * (2 + building_ / measuring_);
    return static_cast<int>(std::min(std::ceil(wanted), static_cast<double>(most)));
  }

 private:
  static constexpr double kShare = 0.25;  // weight of the latest value

  void blend(double& mean, double seconds) {
    const std::lock_guard lock(mutex_);
    mean = mean > 0 ? mean + kShare * (seconds - mean) : seconds;
  }

  mutable std::mutex mutex_;
  double building_ = 0, measuring_ = 0;  // seconds per candidate
};

}  // namespace warpath::cuda
