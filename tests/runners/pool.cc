#include "runners/pool.h"

#include <doctest/doctest.h>

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>

#include "engine/base/error.h"
#include "tests/support/campaign_bench.h"

using namespace warpath;
using namespace std::chrono_literals;

namespace {

/// Does what `body` says; counts how many run at once.
class ScriptedRunner final : public Runner {
 public:
  ScriptedRunner(int lanes, std::function<Outcome(const RunRequest&, std::stop_token)> body)
      : lanes_(lanes), body_(std::move(body)) {}
  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] DeviceFacts device() const override { return {}; }
  [[nodiscard]] int lanes() const override { return lanes_; }
  void prepare(const KernelSpec&) override {}
  [[nodiscard]] Outcome run(const RunRequest& request, std::stop_token stop) override {
    const int now = ++running_;
    for (int seen = most_; seen < now && !most_.compare_exchange_weak(seen, now);) {
    }
    struct Leave {
      std::atomic<int>& count;
      ~Leave() { --count; }
    } leave{running_};
    return body_(request, std::move(stop));
  }
  [[nodiscard]] int most() const { return most_; }
  [[nodiscard]] int running() const { return running_; }

 private:
  int lanes_;
  std::function<Outcome(const RunRequest&, std::stop_token)> body_;
  std::atomic<int> running_{0};
  std::atomic<int> most_{0};
};

Outcome good() {
  Outcome outcome;
  outcome.status = Status::ok;
  return outcome;
}

void wait_for_stop(std::stop_token stop) {
  std::mutex mutex;
  std::condition_variable_any changed;
  std::unique_lock lock(mutex);
  changed.wait(lock, std::move(stop), [] { return false; });
}

}  // namespace

TEST_SUITE("pool") {
  TEST_CASE("every evaluation comes back once, with its own number") {
    const KernelSpec spec = test::stand_in_spec();
    ScriptedRunner runner(3, [](const RunRequest& r, std::stop_token) {
      Outcome outcome = good();
      outcome.run_seconds = static_cast<double>(r.seed);
      return outcome;
    });
    const auto pool = runner_pool(runner, spec);
    CHECK(pool->width() == 3);
    for (std::uint64_t i = 0; i < 100; ++i)
      pool->submit({.sequence = i, .variant = Variant{}, .key = {}, .seed = 1000 + i});
    std::set<std::uint64_t> seen;
    while (seen.size() < 100) {
      const auto done = pool->wait(10s);
      REQUIRE(done.has_value());
      CHECK(done->outcome.run_seconds == static_cast<double>(1000 + done->sequence));
      REQUIRE(seen.insert(done->sequence).second);
    }
    CHECK_FALSE(pool->wait(1ms).has_value());
    CHECK(runner.most() <= 3);
  }

  TEST_CASE("as many run at once as the runner has lanes, also with fewer cores") {
    const KernelSpec spec = test::stand_in_spec();
    constexpr int kLanes = 6;
    std::mutex mutex;
    std::condition_variable all_here;
    int here = 0;
    ScriptedRunner runner(kLanes, [&](const RunRequest&, std::stop_token) {
      std::unique_lock lock(mutex);
      ++here;
      all_here.notify_all();
      // Passes only when all lanes are in: the time-out makes a failure of what would be a
      // deadlock.
      if (!all_here.wait_for(lock, 20s, [&] { return here >= kLanes; }))
        throw std::runtime_error("alone");
      return good();
    });
    const auto pool = runner_pool(runner, spec);
    for (std::uint64_t i = 0; i < kLanes; ++i)
      pool->submit({.sequence = i, .variant = Variant{}, .key = {}, .seed = 0});
    for (int i = 0; i < kLanes; ++i) {
      const auto done = pool->wait(30s);
      REQUIRE(done.has_value());
      CHECK(done->outcome.status == Status::ok);
    }
  }

  TEST_CASE(
      "a runner that throws on a candidate makes a crashed outcome; an Error reaches the one who "
      "waits") {
    const KernelSpec spec = test::stand_in_spec();
    ScriptedRunner runner(1, [](const RunRequest& r, std::stop_token) -> Outcome {
      if (r.seed == 0) throw std::runtime_error("out of luck");
      if (r.seed == 1) throw 7;
      throw environment_error("the device is gone");
    });
    const auto pool = runner_pool(runner, spec);
    pool->submit({.sequence = 0, .variant = Variant{}, .key = {}, .seed = 0});
    const auto first = pool->wait(10s);
    REQUIRE(first.has_value());
    CHECK(first->outcome.status == Status::crashed);
    CHECK(first->outcome.log == "runner scripted failed: out of luck");
    pool->submit({.sequence = 1, .variant = Variant{}, .key = {}, .seed = 1});
    CHECK(pool->wait(10s)->outcome.status == Status::crashed);
    pool->submit({.sequence = 2, .variant = Variant{}, .key = {}, .seed = 2});
    CHECK_THROWS_AS(static_cast<void>(pool->wait(10s)), Error);
  }

  TEST_CASE(
      "what waits can be withdrawn; what is measured, and what comes later, is not affected") {
    const KernelSpec spec = test::stand_in_spec();
    std::mutex mutex;
    std::condition_variable changed;
    bool withdrawn = false;
    std::atomic<int> begun = 0;
    ScriptedRunner runner(2, [&](const RunRequest& r, std::stop_token) {
      ++begun;
      if (r.seed == 1) {  // waits for a device in vain
        wait_for_stop(r.withdrawn);
        Outcome outcome;
        outcome.status = Status::not_measured;
        return outcome;
      }
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return withdrawn; });
      return good();
    });
    const auto pool = runner_pool(runner, spec);
    for (std::uint64_t i = 0; i < 4; ++i)
      pool->submit({.sequence = i, .variant = Variant{}, .key = {}, .seed = i});
    while (begun < 2) std::this_thread::yield();
    pool->withdraw();
    {
      const std::lock_guard lock(mutex);
      withdrawn = true;
    }
    changed.notify_all();
    pool->submit({.sequence = 4, .variant = Variant{}, .key = {}, .seed = 4});
    std::set<std::uint64_t> measured, given_up;
    for (int i = 0; i < 5; ++i) {
      const auto done = pool->wait(10s);
      REQUIRE(done.has_value());
      (done->withdrawn ? given_up : measured).insert(done->sequence);
    }
    CHECK(measured == std::set<std::uint64_t>{0, 4});
    CHECK(given_up == std::set<std::uint64_t>{1, 2, 3});
  }

  TEST_CASE("cancel abandons what runs and what waits, and the pool ends") {
    const KernelSpec spec = test::stand_in_spec();
    ScriptedRunner runner(2, [](const RunRequest&, std::stop_token stop) {
      wait_for_stop(std::move(stop));
      return good();
    });
    auto pool = runner_pool(runner, spec);
    for (std::uint64_t i = 0; i < 10; ++i)
      pool->submit({.sequence = i, .variant = Variant{}, .key = {}, .seed = 0});
    pool->cancel();
    CHECK_FALSE(pool->wait(1ms).has_value());
    pool.reset();
    CHECK(runner.running() == 0);
  }
}
