#pragma once

#include <algorithm>
#include <cmath>
#include <mutex>

namespace warpath::cuda {

/// How long candidates take lately, and how many of them under way that makes useful. Thread-safe.
class Pace {
 public:
  void built(double seconds) { blend(building_, seconds); }
  void measured(double seconds) { blend(measuring_, seconds); }

  /// Little's law: a device's queue holds what is built while one candidate is measured, and two
  /// more, so that it never runs dry. `most` until a candidate has been measured.
  [[nodiscard]] int useful(std::size_t devices, int most) const {
    const std::lock_guard lock(mutex_);
    if (measuring_ <= 0) return most;
    const double wanted = static_cast<double>(devices) * (2 + building_ / measuring_);
    return static_cast<int>(std::min(std::ceil(wanted), static_cast<double>(most)));
  }

 private:
  static constexpr double kShare = 0.25;  // of the latest

  void blend(double& mean, double seconds) {
    const std::lock_guard lock(mutex_);
    mean = mean > 0 ? mean + kShare * (seconds - mean) : seconds;
  }

  mutable std::mutex mutex_;
  double building_ = 0, measuring_ = 0;  // seconds of one candidate
};

}  // namespace warpath::cuda
