#include "engine/search/halving.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <vector>

#include "engine/base/rng.h"
#include "engine/plugin/objective.h"

using namespace warpath;

namespace {

using Nodes = std::vector<NodeId>;

Nodes numbered(std::uint32_t count) {
  Nodes out;
  for (std::uint32_t i = 1; i <= count; ++i) out.push_back(NodeId{i});
  return out;
}

/// A whole halving, each reading by `read(node)`; counts them.
template <class Read>
Bracket played(const Nodes& candidates,
               std::size_t winners,
               std::map<NodeId, Readings>& readings,
               Read read) {
  for (;;) {
    Bracket bracket = sequential_halving(candidates, winners, readings);
    if (bracket.due.empty()) return bracket;
    const NodeId node = bracket.due.front();
    read(node, readings[node]);
  }
}

Bracket played_exactly(const Nodes& candidates,
                       std::size_t winners,
                       std::map<NodeId, Readings>& readings) {
  return played(candidates, winners, readings,
                [](NodeId node, Readings& out) { out.rewards.push_back(index(node)); });
}

}  // namespace

TEST_SUITE("halving") {
  TEST_CASE(
      "without noise the order is that of the rewards, and each heat costs as much as the first") {
    std::map<NodeId, Readings> readings;
    const Bracket bracket = played_exactly(numbered(16), 1, readings);
    Nodes expected = numbered(16);
    std::ranges::reverse(expected);
    CHECK(bracket.order.size() == 16);
    CHECK(bracket.order.front() == NodeId{16});
    CHECK(Nodes(bracket.order.begin(), bracket.order.end()) == expected);
    const auto read = [&](std::uint32_t node) { return readings[NodeId{node}].rewards.size(); };
    CHECK(read(1) == 1);
    CHECK(read(9) == 3);
    CHECK(read(13) == 7);
    CHECK(read(15) == 15);
    CHECK(read(16) == 15);
    std::size_t total = 0;
    for (const auto& [node, r] : readings) total += r.rewards.size();
    CHECK(total == 16 * 4);
  }

  TEST_CASE("no heat is held for as many candidates as winners, or fewer") {
    std::map<NodeId, Readings> readings;
    CHECK(played_exactly(numbered(3), 3, readings).order == numbered(3));
    CHECK(played_exactly({}, 3, readings).order.empty());
    CHECK(readings.empty());
    // one winner at least
    CHECK(played_exactly(numbered(2), 0, readings).order.front() == NodeId{2});
  }

  TEST_CASE(
      "whatever the numbers, it ends, every candidate has a place and the winners were read most") {
    for (std::uint32_t candidates = 0; candidates <= 20; ++candidates) {
      for (std::size_t winners = 1; winners <= 6; ++winners) {
        std::map<NodeId, Readings> readings;
        const Bracket bracket = played_exactly(numbered(candidates), winners, readings);
        REQUIRE(bracket.order.size() == candidates);
        std::size_t before = SIZE_MAX;
        for (const NodeId node : bracket.order) {
          const std::size_t count = readings[node].rewards.size();
          CHECK(count <= before);
          before = count;
        }
      }
    }
  }

  TEST_CASE("one that fails is read no more, has no place, and others move up") {
    std::map<NodeId, Readings> readings;
    const Bracket bracket = played(numbered(8), 2, readings, [](NodeId node, Readings& out) {
      if (node == NodeId{8} && out.rewards.size() == 1)
        out.refused = true;
      else
        out.rewards.push_back(index(node));
    });
    CHECK(bracket.order.size() == 7);
    CHECK(std::ranges::find(bracket.order, NodeId{8}) == bracket.order.end());
    CHECK(bracket.order[0] == NodeId{7});
    CHECK(bracket.order[1] == NodeId{6});
    CHECK(readings[NodeId{8}].rewards.size() == 1);
  }

  TEST_CASE("it goes on from any record of readings to the same end") {
    Rng rng(5, "halving");
    std::map<NodeId, Readings> whole;
    std::vector<std::pair<NodeId, double>> story;
    const Bracket end = played(numbered(12), 3, whole, [&](NodeId node, Readings& out) {
      story.emplace_back(node, index(node) + 3 * rng.normal());
      out.rewards.push_back(story.back().second);
    });
    std::map<NodeId, Readings> readings;
    for (const auto& [node, reward] : story) {
      const Bracket bracket = sequential_halving(numbered(12), 3, readings);
      REQUIRE_FALSE(bracket.due.empty());
      CHECK(bracket.due.front() == node);
      readings[node].rewards.push_back(reward);
    }
    CHECK(sequential_halving(numbered(12), 3, readings).order == end.order);
  }

  TEST_CASE(
      "under noise it finds the best more often than the same number of readings spread evenly, "
      "and far more often than one of each") {
    constexpr int kArms = 16, kRuns = 2000;
    constexpr double kNoise = 0.5;
    int halved = 0, even = 0, once = 0;
    for (int run = 0; run < kRuns; ++run) {
      Rng rng(static_cast<std::uint64_t>(run), "arms");
      const auto read = [&](NodeId node) {
        return std::sqrt(static_cast<double>(index(node))) + kNoise * rng.normal();
      };
      std::map<NodeId, Readings> readings;
      halved += played(numbered(kArms), 1, readings,
                       [&](NodeId node, Readings& out) {
                         out.rewards.push_back(read(node));
                       }).order.front() == NodeId{kArms}
                    ? 1
                    : 0;
      const auto best_of = [&](int times) {
        std::uint32_t best = 0;
        double most = -1e9;
        for (std::uint32_t i = 1; i <= kArms; ++i) {
          double sum = 0;
          for (int t = 0; t < times; ++t) sum += read(NodeId{i});
          if (sum / times > most) most = sum / times, best = i;
        }
        return best == kArms ? 1 : 0;
      };
      even += best_of(4);  // 64 readings, as the four heats
      once += best_of(1);
    }
    CHECK(halved > even + kRuns / 50);
    CHECK(halved > once + kRuns / 10);
  }
}

TEST_SUITE("standard_error") {
  TEST_CASE(
      "of a reward: what the spread of the samples makes of a median, by the objective's weights") {
    KernelSpec spec;
    Workload one, two;
    one.name = "one";
    two.name = "two";
    two.weight = 3;
    spec.workloads = {one, two};
    Rng rng(3, "samples");
    const auto drawn = [&](double deviation) {
      std::vector<double> out(400);
      for (double& x : out) x = 100 * (1 + deviation * rng.normal());
      return out;
    };
    Outcome outcome;
    outcome.status = Status::ok;
    outcome.timings = {
        {.workload = "one", .samples_ns = drawn(0.04), .launch = {}, .cache = "hot"},
        {.workload = "two", .samples_ns = drawn(0.02), .launch = {}, .cache = "hot"}};
    ObjectiveFunction objective(spec, {}, 0.5);
    REQUIRE(objective.set_baseline(outcome).empty());
    const double each = 1.2533 / 20;
    CHECK(objective.standard_error(outcome) ==
          doctest::Approx(std::hypot(0.25 * 0.04, 0.75 * 0.02) * each).epsilon(0.1));
    // timed beside it: its error counts as well
    outcome.timings[0].baseline_samples_ns = drawn(0.04);
    CHECK(
        objective.standard_error(outcome) ==
        doctest::Approx(std::hypot(0.25 * 0.04 * std::sqrt(2.0), 0.75 * 0.02) * each).epsilon(0.1));
    for (WorkloadTiming& timing : outcome.timings)
      timing.samples_ns.resize(1), timing.baseline_samples_ns.clear();
    CHECK(objective.standard_error(outcome) == 0);
  }
}
