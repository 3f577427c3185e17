#include "runners/cuda/lanes/lane_pool.h"

#include <utility>

#include "engine/base/error.h"

namespace warpath::cuda {

void LanePool::add(Lane& lane) {
  const std::lock_guard lock(mutex_);
  free_.push_back(&lane);
  ++usable_;
}

Lane* LanePool::pop() {
  Lane* const lane = free_.front();
  free_.erase(free_.begin());
  return lane;
}

Lane* LanePool::take(const std::stop_token& stop, const std::stop_token& withdrawn) {
  const std::stop_callback wakes(withdrawn, [this] {
    const std::lock_guard lock(mutex_);
    freed_.notify_all();
  });
  std::unique_lock lock(mutex_);
  ++waiting_;
  freed_.wait(lock, stop,
              [&] { return !free_.empty() || usable_ == 0 || withdrawn.stop_requested(); });
  --waiting_;
  if (usable_ == 0) throw environment_error(lost_);
  if (free_.empty() || withdrawn.stop_requested()) {
    freed_.notify_all();  // who waited behind this one
    return nullptr;
  }
  if (!first_) first_ = Clock::now();
  return pop();
}

Lane* LanePool::take_last(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, stop, [&] { return usable_ == 0 || (!free_.empty() && waiting_ == 0); });
  return free_.empty() || waiting_ > 0 ? nullptr : pop();
}

std::vector<Lane*> LanePool::take_free() {
  const std::lock_guard lock(mutex_);
  return std::exchange(free_, {});
}

void LanePool::give_back(Lane* lane) {
  const std::lock_guard lock(mutex_);
  last_ = Clock::now();
  free_.push_back(lane);
  freed_.notify_all();
}

void LanePool::lose(std::string why) {
  const std::lock_guard lock(mutex_);
  lost_ = std::move(why);
  --usable_;
  freed_.notify_all();
}

double LanePool::seconds() const {
  const std::lock_guard lock(mutex_);
  return first_ && last_ ? std::chrono::duration<double>(*last_ - *first_).count() : 0;
}

}  // namespace warpath::cuda
