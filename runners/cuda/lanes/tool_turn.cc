#include "runners/cuda/lanes/tool_turn.h"

#include <algorithm>
#include <future>
#include <thread>
#include <utility>

namespace warpath::cuda {

struct ToolTurn::Waiting {
  Work work;
  std::promise<void> done;
};

void ToolTurn::run(Work work, const Turn& turn) {
  constexpr std::size_t kMost = 4;  // at once: each has memory of the device
  Waiting own{.work = std::move(work), .done = {}};
  const std::future<void> done = own.done.get_future();
  std::unique_lock lock(mutex_);
  waiting_.push_back(&own);
  if (has_leader_) {
    lock.unlock();
    return done.wait();
  }
  has_leader_ = true;
  while (!waiting_.empty()) {
    lock.unlock();
    std::vector<Waiting*> all;
    const auto take_all = [&] {
      const std::lock_guard guard(mutex_);
      all.swap(waiting_);
    };
    turn([&](int gpu) {
      take_all();
      for (std::size_t begin = 0; begin < all.size(); begin += kMost) {
        std::vector<std::jthread> threads;
        for (std::size_t i = begin; i < std::min(all.size(), begin + kMost); ++i)
          threads.emplace_back([&, i] { all[i]->work(gpu); });
      }
    });
    if (all.empty()) take_all();
    for (Waiting* const one : all) one->done.set_value();
    lock.lock();
  }
  has_leader_ = false;
}

}  // namespace warpath::cuda
