#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <stop_token>
#include <thread>

namespace warpath {

/// Does what it is given in a thread of its own, one after the other, in order. add and finish must
/// be called from one thread.
class Background {
 public:
  Background() : thread_([this](const std::stop_token& stop) { work(stop); }) {}
  Background(const Background&) = delete;
  Background& operator=(const Background&) = delete;
  ~Background() = default;  ///< what was added is done; what it throws is dropped

  /// Waits while kMost steps are to be done. Throws what an earlier step threw; the steps after
  /// that one were dropped.
  void add(std::function<void()> step);
  /// Returns when all steps are done. Throws as add().
  void finish();

 private:
  static constexpr std::size_t kMost = 256;

  void work(const std::stop_token& stop);
  void rethrow();

  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::deque<std::function<void()>> steps_;  // the one that is being done at the front
  std::exception_ptr error_;
  std::jthread thread_;  // the last member: it ends before the others do
};

}  // namespace warpath
