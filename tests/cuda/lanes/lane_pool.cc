#include "runners/cuda/lanes/lane_pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>
#include <vector>

#include "engine/base/error.h"
#include "runners/cuda/lanes/tool_turn.h"

using namespace warpath;
using namespace warpath::cuda;

namespace {

std::unique_ptr<Lane> lane(const std::string& label) {
  LaneSetup setup;
  setup.label = label;
  return std::make_unique<Lane>(setup);
}

/// Until `what` holds; a test that waits for ever is ended by the suite's time limit.
template <class What>
void wait_for(const What& what) {
  while (!what()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

}  // namespace

TEST_SUITE("lane_pool") {
  TEST_CASE("devices are handed out oldest first, and a stop ends the wait for one") {
    const auto a = lane("a"), b = lane("b");
    LanePool pool;
    pool.add(*a);
    pool.add(*b);
    CHECK(pool.take({}) == a.get());
    CHECK(pool.take({}) == b.get());
    pool.give_back(b.get());
    pool.give_back(a.get());
    CHECK(pool.take({}) == b.get());
    CHECK(pool.take_free() == std::vector<Lane*>{a.get()});
    std::stop_source stop;
    std::jthread other([&] { stop.request_stop(); });
    CHECK(pool.take(stop.get_token()) == nullptr);
    std::stop_source withdrawn;
    std::jthread caller([&] { withdrawn.request_stop(); });
    CHECK(pool.take({}, withdrawn.get_token()) == nullptr);
    pool.give_back(b.get());
    CHECK(pool.take({}, withdrawn.get_token()) == nullptr);
    CHECK(pool.take({}) == b.get());
  }

  TEST_CASE("who is to be last waits until nobody else does") {
    const auto only = lane("only");
    LanePool pool;
    pool.add(*only);
    Lane* const taken = pool.take({});
    std::atomic<int> order = 0, last = 0, next = 0;
    std::jthread late([&] {
      Lane* const got = pool.take_last({});
      last = ++order;
      pool.give_back(got);
    });
    std::vector<std::jthread> others;
    for (int i = 0; i < 3; ++i) {
      others.emplace_back([&] {
        Lane* const got = pool.take({});
        next = ++order;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
        pool.give_back(got);
      });
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(50));  // all of them wait by then
    pool.give_back(taken);
    wait_for([&] { return order == 4; });
    CHECK(last == 4);
    CHECK(next == 3);
  }

  TEST_CASE("without a device that works, who waits is told why") {
    const auto only = lane("only");
    LanePool pool;
    pool.add(*only);
    CHECK(pool.take({}) == only.get());
    pool.lose("GPU 0: it has fallen off the bus");
    CHECK_THROWS_WITH_AS(static_cast<void>(pool.take({})), "GPU 0: it has fallen off the bus",
                         Error);
    CHECK(pool.take_last({}) == nullptr);
  }
}

TEST_SUITE("tool_turn") {
  TEST_CASE(
      "work that comes while one waits for the device is done in the same turn, side by side") {
    ToolTurn turns;
    std::atomic<int> came = 0, at_once = 0, most = 0, taken = 0;
    std::vector<std::atomic<int>> gpus(3);
    const auto work = [&](std::size_t i) {
      return [&, i](int gpu) {
        const int now = ++at_once;
        for (int seen = most; now > seen && !most.compare_exchange_weak(seen, now);) {
        }
        wait_for([&] { return most >= 3; });
        gpus[i] = gpu;
        --at_once;
      };
    };
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 3; ++i) {
      threads.emplace_back([&, i] {
        ++came;
        turns.run(work(i), [&](const ToolTurn::Work& all) {
          ++taken;
          wait_for([&] { return came == 3; });
          std::this_thread::sleep_for(std::chrono::milliseconds(50));
          all(7);
        });
      });
    }
    threads.clear();
    CHECK(taken == 1);
    CHECK(most == 3);
    for (const auto& gpu : gpus) CHECK(gpu == 7);
  }

  TEST_CASE("where there is no device, nothing is done and nobody waits; the next one asks anew") {
    ToolTurn turns;
    int done = 0;
    turns.run([&](int) { ++done; }, [](const ToolTurn::Work&) {});
    CHECK(done == 0);
    turns.run([&](int) { ++done; }, [](const ToolTurn::Work& all) { all(0); });
    CHECK(done == 1);
  }
}
