#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "engine/search/search.h"
#include "engine/search/strategy.h"
#include "runners/replay/point_space.h"
#include "tests/support/small_space.h"
#include "tests/support/table_space.h"

using namespace warpath;
using test::kFails;
using test::Table;
using test::TableSpace;

TEST_SUITE_BEGIN("search_ways");

namespace {

SearchOptions quiet() {
  SearchOptions options;
  options.strategy = "mcgs";
  options.root_noise_weight = 0;
  return options;
}

/// Everything off the usual way, and all of it together.
std::vector<SearchOptions> unusual() {
  SearchOptions creating = quiet(), rolling = quiet(), recombining = quiet(), starting = quiet();
  creating.descend = "creating";
  rolling.rollout_steps = 4;
  recombining.recombination = 0.5;
  starting.start_epsilon = 0.5;
  SearchOptions all = rolling;
  all.descend = "creating";
  all.recombination = 0.3;
  all.start_epsilon = 0.3;
  return {creating, rolling, recombining, starting, all};
}

/// Dispatched places in order, `width` under way, invariants checked at every step.
std::vector<int> exhausted(Search& search,
                           TableSpace& space,
                           std::size_t width,
                           std::uint64_t seed) {
  Rng order(seed, "order");
  std::vector<int> out;
  std::vector<Dispatch> flights;
  for (;;) {
    while (flights.size() < width) {
      const auto d = search.next();
      if (!d) break;
      out.push_back(space.place(d->node));
      flights.push_back(*d);
      REQUIRE(search.violated_invariant() == "");
    }
    if (flights.empty()) return out;
    const auto i = static_cast<std::ptrdiff_t>(order.below(flights.size()));
    search.complete(flights[static_cast<std::size_t>(i)].sequence,
                    space.evaluate(flights[static_cast<std::size_t>(i)].node));
    flights.erase(flights.begin() + i);
    REQUIRE(search.violated_invariant() == "");
  }
}

}  // namespace

TEST_CASE(
    "whatever the ways, every place is evaluated once, to the last, and equal seeds take equal "
    "ways") {
  Rng rng(11, "tables");
  for (int t = 0; t < 60; ++t) {
    const Table table = test::random_table(rng, 30, 0.15);
    for (const SearchOptions& options : unusual()) {
      for (const std::size_t width : {1U, 4U}) {
        CAPTURE(t);
        CAPTURE(width);
        CAPTURE(options.descend);
        CAPTURE(options.rollout_steps);
        CAPTURE(options.recombination);
        const auto run = [&] {
          TableSpace space(table);
          Search search(space, options, 5, TableSpace::key(0));
          std::vector<int> places = exhausted(search, space, width, 5);
          CHECK(search.idle() == Idle::exhausted);
          return std::pair(places, search.fingerprint());
        };
        const auto [places, fingerprint] = run();
        std::set<int> once(places.begin(), places.end());
        CHECK(once.size() == places.size());
        once.insert(0);
        CHECK(once == test::reachable_places(table));
        CHECK(run().second == fingerprint);
      }
    }
  }
}

TEST_CASE(
    "with descend=creating a shared node is reached by the edge that made it alone, and its best "
    "still counts for all parents") {
  //  0 -> 1, 2;  1 -> 3;  2 -> 3;  3 -> 4, 5, 6, 7
  const Table diamond{.actions = {{1, 2}, {3}, {3}, {4, 5, 6, 7}, {}, {}, {}, {}},
                      .rewards = {0, 0.1, 0.2, 0.5, 0.6, 0.7, 0.8, 0.9}};
  for (const bool creating : {false, true}) {
    SearchOptions options = quiet();
    options.descend = creating ? "creating" : "forward";
    options.widening = "all";
    TableSpace space(diamond);
    Search search(space, options, 1, TableSpace::key(0));
    static_cast<void>(exhausted(search, space, 1, 1));
    const Graph& g = search.graph();
    std::uint32_t by_others = 0;
    for (std::uint32_t i = 0; i < g.edge_count(); ++i) {
      if (g[g[EdgeId{i}].target].first_in != EdgeId{i}) by_others += g[EdgeId{i}].visits;
    }
    if (creating) CHECK(by_others == 0);
    for (std::uint32_t i = 0; i < g.node_count(); ++i) {
      if (space.place(NodeId{i}) == 1 || space.place(NodeId{i}) == 2)
        CHECK(g[NodeId{i}].best == 0.9);
    }
  }
}

TEST_CASE(
    "a roll-out follows a new variant by its best priors for so many steps, until one fails") {
  //  0 -> 1, 6;  1 -> 2, 7;  2 -> 3;  3 -> 4;  4 -> 5
  const Table chain{.actions = {{1, 6}, {2, 7}, {3}, {4}, {5}, {}, {}, {}},
                    .rewards = {0, -1, -1, -1, -1, -1, 2, 2},
                    .priors = {{0.9F, 0.1F}, {0.8F, 0.2F}, {1}, {1}, {1}, {}, {}, {}}};
  const auto places = [&](int steps, double epsilon, const Table& table) {
    SearchOptions options = quiet();
    options.rollout_steps = steps;
    options.rollout_epsilon = epsilon;
    TableSpace space(table);
    Search search(space, options, 1, TableSpace::key(0));
    return exhausted(search, space, 1, 1);
  };
  using Places = std::vector<int>;
  const Places three = places(3, 0, chain);
  CHECK(Places(three.begin(), three.begin() + 4) == Places{1, 2, 3, 4});
  CHECK(three[4] != 5);
  const Places one = places(1, 0, chain);
  CHECK(Places(one.begin(), one.begin() + 2) == Places{1, 2});
  CHECK(one[2] != 3);
  Table failing = chain;
  failing.rewards[2] = kFails;
  CHECK(places(3, 0, failing)[2] != 3);
  CHECK(places(3, 0, failing).size() == 4);  // 1, 2, 6, 7
  CHECK(places(3, 1, chain).size() == 7);    // random moves reach everything as well
}

TEST_CASE(
    "roll-outs resume from the log alone, the other ways from a snapshot too, to the same bits") {
  Rng rng(3, "tables");
  for (int t = 0; t < 20; ++t) {
    const Table table = test::random_table(rng, 30, 0.1);
    for (const SearchOptions& options : unusual()) {
      TableSpace space(table);
      Search search(space, options, 9, TableSpace::key(0));
      CHECK(search.restorable() == (options.rollout_steps == 0));
      for (int i = 0; i < 6; ++i) {
        if (const auto d = search.next()) search.complete(d->sequence, space.evaluate(d->node));
      }
      if (!search.restorable()) continue;
      TableSpace again(table, space.places());
      Search resumed(again, options, 9, search.graph(), search.state(), "snapshot");
      CHECK(exhausted(resumed, again, 1, 1) == exhausted(search, space, 1, 1));
      CHECK(resumed.fingerprint() == search.fingerprint());
    }
  }
}

TEST_CASE("recombination takes tunables from two good points, and each point is evaluated once") {
  const RecordedSpace space = test::small_space();
  SearchOptions options = quiet();
  options.recombination = 0.5;
  std::uint64_t seed = 1;
  std::vector<Level> start = first_point(options, space, seed);
  while (space.rows()[space.find(start)].status != Status::ok)
    start = first_point(options, space, ++seed);
  PointSpace points(space, start);
  Search search(points, options, seed, points.root_key());
  std::set<std::uint32_t> rows;
  std::size_t jumps = 0, evaluations = 0;
  while (const auto d = search.next()) {
    ++evaluations;
    jumps += d->action == kJump ? 1U : 0U;
    rows.insert(points.row(d->node));
    const RecordedSpace::Row& row = space.rows()[points.row(d->node)];
    const bool ok = row.status == Status::ok;
    search.complete(
        d->sequence,
        {.ok = ok,
         .reward = ok ? std::log(space.rows()[space.find(start)].time_ns / row.time_ns) : 0});
    REQUIRE(search.violated_invariant() == "");
  }
  CHECK(rows.size() == evaluations);
  CHECK(jumps > evaluations / 10);
}

TEST_CASE("an unknown rule is refused by name") {
  SearchOptions options;
  options.descend = "sideways";
  CHECK_THROWS_WITH_AS(check_search_options(options), doctest::Contains("search.descend"), Error);
}

TEST_SUITE_END();
