#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "runners/cuda/lanes/lane.h"

namespace warpath::cuda {

/// The idle devices, longest idle first. Thread-safe.
class LanePool {
 public:
  void add(Lane& lane);
  /// Waits for a device. Null once `stop` or `withdrawn` is requested. Throws Error(environment) if
  /// none is left.
  [[nodiscard]] Lane* take(const std::stop_token& stop, const std::stop_token& withdrawn = {});
  /// As take(), with lower priority than all waiters in take(). Null also if none is left.
  [[nodiscard]] Lane* take_last(const std::stop_token& stop);
  /// Takes all devices that are idle now.
  [[nodiscard]] std::vector<Lane*> take_free();
  void give_back(Lane* lane);
  /// Removes a taken device that has failed because of `why`.
  void lose(std::string why);
  /// Seconds from the first take() to the last give_back().
  [[nodiscard]] double seconds() const;

 private:
  using Clock = std::chrono::steady_clock;
  [[nodiscard]] Lane* pop();

  mutable std::mutex mutex_;
  std::condition_variable_any freed_;
  std::vector<Lane*> free_;
  int waiting_ = 0;  // in take()
  std::size_t usable_ = 0;
  std::string lost_;
  std::optional<Clock::time_point> first_, last_;
};

}  // namespace warpath::cuda
