#include "engine/base/background.h"

#include <utility>

namespace warpath {

void Background::work(const std::stop_token& stop) {
  std::unique_lock lock(mutex_);
  while (changed_.wait(lock, stop, [this] { return !steps_.empty(); })) {
    std::function<void()> step = std::move(steps_.front());
    lock.unlock();
    std::exception_ptr error;
    try {
      step();
    } catch (...) {
      error = std::current_exception();
    }
    step = nullptr;
    lock.lock();
    steps_.pop_front();
    if (error) {
      error_ = error;
      steps_.clear();
    }
    changed_.notify_all();
  }
}

/// `mutex_` is held.
void Background::rethrow() {
  if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
}

void Background::add(std::function<void()> step) {
  {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return steps_.size() < kMost; });
    rethrow();
    steps_.push_back(std::move(step));
  }
  changed_.notify_all();
}

void Background::finish() {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [this] { return steps_.empty(); });
  rethrow();
}

}  // namespace warpath
