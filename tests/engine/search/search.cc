#include "engine/search/search.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/plugin/options.h"
#include "tests/support/graph_arenas.h"
#include "tests/support/lattice_space.h"
#include "tests/support/table_space.h"

using namespace warpath;
using test::kFails;
using test::kIllegal;
using test::LatticeSpace;
using test::Table;
using test::TableSpace;

namespace {

/// Of the search by the graph's statistics.
Options mcgs_options() {
  Options options;
  options.search.strategy = "mcgs";
  return options;
}

Options quiet_options() {
  Options options = mcgs_options();
  options.search.root_noise_weight = 0;
  return options;
}

/// A table, its space and its search.
struct Fixture {
  explicit Fixture(Table table_in, Options options = quiet_options(), std::uint64_t seed = 1)
      : table(std::move(table_in)),
        space(table),
        search(space, options, seed, TableSpace::key(0)) {}

  /// One dispatch and its completion; the place, or -1 if there was none.
  int step() {
    const auto d = search.next();
    if (!d) return -1;
    search.complete(d->sequence, space.evaluate(d->node));
    return space.place(d->node);
  }
  std::vector<int> run() {
    std::vector<int> places;
    for (int place = step(); place >= 0; place = step()) places.push_back(place);
    return places;
  }
  [[nodiscard]] Node at(int place) const {
    return search.graph()[search.graph().find(TableSpace::key(place))];
  }
  [[nodiscard]] NodeId id(int place) const { return search.graph().find(TableSpace::key(place)); }

  Table table;
  TableSpace space;
  Search search;
};

std::size_t in_degree(const Graph& graph, NodeId v) {
  std::size_t n = 0;
  for (EdgeId e = graph[v].first_in; e != kNoEdge; e = graph[e].next_in) ++n;
  return n;
}

/// The way on which `node` was found: edges from the root.
std::vector<EdgeId> creating_path(const Graph& graph, NodeId node) {
  std::vector<EdgeId> path;
  for (NodeId at = node; at != NodeId{0}; at = graph[path.front()].source)
    path.insert(path.begin(), graph[at].first_in);
  return path;
}

}  // namespace

TEST_SUITE_BEGIN("search");

TEST_CASE("a search starts from a root measured with reward 0") {
  const Fixture f({.actions = {{1}, {}}, .rewards = {0, 1}});
  CHECK(f.search.graph().node_count() == 1);
  CHECK(f.at(0).state == NodeState::measured);
  CHECK(f.at(0).visits == 1);
  CHECK(f.search.state().rewards.count == 1);
  CHECK(f.search.best() == NodeId{0});
  CHECK(f.search.idle() == Idle::none);
  CHECK(f.search.violated_invariant() == "");
}

TEST_CASE("a dispatch reserves its path and its completion gives it back as visits") {
  Fixture f({.actions = {{1}, {2}, {}}, .rewards = {0, 1, 2}});
  CHECK(f.step() == 1);
  const auto d = f.search.next();
  REQUIRE(d);
  CHECK(d->sequence == 1);
  CHECK(f.space.place(d->node) == 2);
  CHECK(f.space.place(d->parent) == 1);
  CHECK(f.search.path_of(1) == creating_path(f.search.graph(), d->node));
  CHECK(f.search.state().pending.size() == 1);
  CHECK(f.at(0).in_flight == 1);
  CHECK(f.at(1).in_flight == 1);
  CHECK(f.at(2).in_flight == 1);
  for (const EdgeId e : f.search.path_of(1)) CHECK(f.search.in_flight(e) == 1);
  CHECK(f.at(2).visits == 0);
  f.search.complete(1, f.space.evaluate(d->node));
  CHECK(f.at(0).in_flight == 0);
  CHECK(f.search.in_flight(EdgeId{0}) == 0);
  CHECK(f.search.in_flight(EdgeId{1}) == 0);
  CHECK(f.at(0).visits == 3);
  CHECK(f.at(1).visits == 2);
  CHECK(f.at(2).visits == 1);
  CHECK(f.search.state().pending.empty());
}

TEST_CASE("actions are tried by prior, and equals in an order of the seed and the key") {
  const Table table{.actions = {{1, 2, 3, 4, 5, 6}, {}, {}, {}, {}, {}, {}},
                    .rewards = {0, -1, -1, -1, -1, -1, -1},
                    .priors = {{0.1F, 0.3F, 0.1F, 0.4F, 0.05F, 0.05F}, {}, {}, {}, {}, {}, {}}};
  const std::vector<int> places = Fixture(table).run();
  CHECK(places[0] == 4);
  CHECK(places[1] == 2);
  CHECK(std::set<int>(places.begin() + 2, places.begin() + 4) == std::set<int>{1, 3});
  CHECK(Fixture(table).run() == places);
  const Table equal{.actions = table.actions, .rewards = table.rewards};
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 20; ++seed)
    orders.insert(Fixture(equal, quiet_options(), seed).run());
  CHECK(orders.size() > 15);
}

TEST_CASE("many equal priors are tried once each, in an order of the seed") {
  Table table{.actions = {{}}, .rewards = {0}};
  for (int i = 1; i <= 200; ++i) {
    table.actions[0].push_back(i);
    table.actions.emplace_back();
    table.rewards.push_back(-1);
  }
  std::vector<int> places = Fixture(table).run();
  CHECK(places != Fixture(table, quiet_options(), 2).run());
  CHECK(!std::is_sorted(places.begin(), places.end()));
  std::sort(places.begin(), places.end());
  for (int i = 1; i <= 200; ++i) CHECK(places.at(static_cast<std::size_t>(i - 1)) == i);
}

TEST_CASE("root noise moves the root's priors alone, and they still sum to 1") {
  const Table table{.actions = {{1, 2}, {3, 4}, {}, {}, {}}, .rewards = {0, 1, 0.5, 0, 0}};
  Options options = mcgs_options();
  options.search.root_noise_weight = 0.5;
  Fixture f(table, options);
  f.run();
  const auto priors_of = [&](int place) {
    std::vector<float> priors;
    const Graph& g = f.search.graph();
    for (EdgeId e = f.at(place).first_out; e != kNoEdge; e = g[e].next_out)
      priors.push_back(g[e].prior.value());
    return priors;
  };
  const std::vector<float> root = priors_of(0);
  CHECK(root.at(0) != root.at(1));
  CHECK(root.at(0) + root.at(1) == doctest::Approx(1).epsilon(0x1p-8));  // each is rounded
  CHECK(*std::min_element(root.begin(), root.end()) >= 0.25F);
  CHECK(priors_of(1) == std::vector<float>{0.5F, 0.5F});
}

TEST_CASE("a diamond shares one node with two edges into it") {
  Fixture f({.actions = {{1, 2}, {3}, {3}, {}}, .rewards = {0, 0.5, 0.25, 1}});
  CHECK(f.run().size() == 3);
  CHECK(f.search.graph().node_count() == 4);
  CHECK(in_degree(f.search.graph(), f.id(3)) == 2);
  CHECK(f.at(3).visits == 1);
  CHECK(f.at(1).best == 1);
  CHECK(f.at(2).best == 1);
}

TEST_CASE(
    "a better node below a shared child shows in every parent at once, but moves only the path's "
    "values") {
  // 0 -> {1, 2} -> 3 -> 4: 3 is made through 1 and is bad, so the next playout goes through 2 and
  // finds 4.
  Options options = quiet_options();
  options.search.widening = "all";
  Fixture f({.actions = {{1, 2}, {3}, {3}, {4}, {}}, .rewards = {0, 0.5, 0.4, -5, 5}}, options);
  f.step(), f.step();
  CHECK(f.step() == 3);
  CHECK(f.at(1).visits == 2);
  const auto d = f.search.next();
  REQUIRE(d);
  CHECK(f.space.place(d->node) == 4);
  CHECK(f.at(2).in_flight == 1);
  CHECK(f.at(3).in_flight == 1);  // by way of 2 alone
  const Graph& g = f.search.graph();
  CHECK(f.search.in_flight(g.find_edge(f.id(2), f.id(3))) == 1);
  CHECK(f.search.in_flight(g.find_edge(f.id(1), f.id(3))) == 0);
  const double value_beside = f.at(1).value;
  f.search.complete(d->sequence, f.space.evaluate(d->node));
  CHECK(f.at(1).best == 5);
  CHECK(f.at(2).best == 5);
  CHECK(f.at(0).best == 5);
  CHECK(f.at(2).value == (0.4 + 0) / 2);  // M(3) is now the mean of -5 and 5
  CHECK(f.at(1).value == value_beside);
}

TEST_CASE("visits of a bad shared child through another parent do not move this parent's value") {
  // 1 and 2 share the bad child 3; 1 also has the good child 4.
  Options options = quiet_options();
  options.search.widening = "all";
  Fixture f(
      {.actions = {{1, 2}, {4, 3}, {3}, {5, 6, 7, 8}, {}, {}, {}, {}, {}},
       .rewards = {0, 1, 0.9, -1, 1, -2, -2, -2, -2},
       .priors =
           {{0.5F, 0.5F}, {0.6F, 0.4F}, {1}, {0.25F, 0.25F, 0.25F, 0.25F}, {}, {}, {}, {}, {}}},
      options);
  f.step(), f.step(), f.step(), f.step();
  const double value = f.at(1).value;
  CHECK(value == doctest::Approx((1 + 1 - 1) / 3.0));
  const std::uint32_t visits = f.at(1).visits;
  CHECK(f.step() >= 5);
  CHECK(f.at(2).visits == 2);
  CHECK(f.at(3).value == -1.5);
  CHECK(f.at(1).visits == visits);
  CHECK(f.at(1).value == value);
}

TEST_CASE("cycles of every kind end with every node measured once") {
  const std::vector<Table> tables{
      {.actions = {{0}}, .rewards = {0}},  // a self-loop
      // back to the root
      {.actions = {{1}, {0, 1}}, .rewards = {0, 1}},
      // a 2-cycle below the root
      {.actions = {{1}, {2}, {1}}, .rewards = {0, 1, 2}},
      {.actions = {{1}, {2}, {3}, {1}}, .rewards = {0, 1, 2, 3}},  // a 3-cycle
      // two ways round
      {.actions = {{1, 2}, {2, 0}, {1, 0}}, .rewards = {0, -1, -2}},
      // parallel actions
      {.actions = {{1, 1, 1}, {0, 0, 2}, {2, 1, 0}}, .rewards = {0, 0, 0}},
  };
  for (std::size_t i = 0; i < tables.size(); ++i) {
    CAPTURE(i);
    Fixture f(tables[i]);
    CHECK(f.run().size() == tables[i].actions.size() - 1);
    CHECK(f.search.idle() == Idle::exhausted);
    CHECK(f.at(0).best == *std::max_element(tables[i].rewards.begin(), tables[i].rewards.end()));
    CHECK(f.search.violated_invariant() == "");
  }
}

TEST_CASE("a failed node counts as the lowest reward, is never best and never expanded") {
  Fixture f({.actions = {{1, 2}, {3}, {}, {}}, .rewards = {0, kFails, -2, 9}});
  CHECK(f.run().size() == 2);
  CHECK(f.at(1).state == NodeState::failed);
  CHECK(f.id(3) == kNoNode);
  CHECK(f.at(0).best == 0);
  CHECK(f.search.best() == NodeId{0});
  CHECK(f.at(0).value == doctest::Approx((0 - 2 - 2) / 3.0));
}

TEST_CASE("a graph where everything fails ends cleanly") {
  Fixture f({.actions = {{1, 2, 3}, {}, {}, {}}, .rewards = {0, kFails, kFails, kFails}});
  CHECK(f.run().size() == 3);
  CHECK(f.search.idle() == Idle::exhausted);
  CHECK(f.search.best() == NodeId{0});
  CHECK(f.at(0).value == 0);
  CHECK(f.search.violated_invariant() == "");
}

TEST_CASE("illegal actions cost no evaluation") {
  Fixture f({.actions = {{kIllegal, 1, kIllegal}, {kIllegal}}, .rewards = {0, 1}});
  CHECK(f.run() == std::vector<int>{1});
  CHECK(f.search.idle() == Idle::exhausted);
  Fixture none({.actions = {{}}, .rewards = {0}});
  CHECK(none.run().empty());
  CHECK(none.search.idle() == Idle::exhausted);
}

TEST_CASE("waiting for an outcome and having nothing left are told apart") {
  Fixture f({.actions = {{1}, {2}, {}}, .rewards = {0, 1, 2}});
  const auto first = f.search.next();
  REQUIRE(first);
  CHECK(f.search.idle() == Idle::waiting);
  CHECK(!f.search.next());
  const Hash128 waiting = f.search.fingerprint();
  CHECK(!f.search.next());
  CHECK(f.search.fingerprint() == waiting);
  f.search.complete(first->sequence, f.space.evaluate(first->node));
  CHECK(f.search.idle() == Idle::none);
  CHECK(f.step() == 2);
  CHECK(!f.search.next());
  CHECK(f.search.idle() == Idle::exhausted);
}

TEST_CASE("paths are no longer than max_depth") {
  Table chain{.actions = {}, .rewards = {}};
  for (int i = 0; i < 20; ++i) {
    chain.actions.push_back({i + 1, 0});
    chain.rewards.push_back(i);
  }
  chain.actions.push_back({});
  chain.rewards.push_back(20);
  Options options = quiet_options();
  options.search.max_depth = 5;
  Fixture f(chain, options);
  CHECK(f.run().size() == 5);
  CHECK(f.search.idle() == Idle::exhausted);
  CHECK(creating_path(f.search.graph(), f.id(5)).size() == 5);
}

TEST_CASE("sharing as a tree evaluates a shared variant once a path") {
  const Table diamond{.actions = {{1, 2}, {3, 0}, {3}, {}}, .rewards = {0, 0.5, 0.25, 1}};
  Options options = quiet_options();
  options.search.sharing = "tree";
  options.search.max_depth = 2;
  Fixture f(diamond, options);
  std::vector<int> places = f.run();
  std::sort(places.begin(), places.end());
  CHECK(places == std::vector<int>{0, 1, 2, 3, 3});
  for (std::uint32_t i = 1; i < f.search.graph().node_count(); ++i)
    CHECK(in_degree(f.search.graph(), NodeId{i}) == 1);
  CHECK(f.search.violated_invariant() == "");
}

TEST_CASE("equal rewards leave the older node the best") {
  Fixture f({.actions = {{1}, {2}, {}}, .rewards = {0, 2, 2}});
  f.run();
  CHECK(f.search.best() == f.id(1));
}

TEST_CASE("the lattice toy has 36 814 nodes as a graph") {
  LatticeSpace space(8, 4, 12);
  Search search(space, quiet_options(), 1, LatticeSpace::root_key());
  while (const auto d = search.next()) search.complete(d->sequence, space.evaluate(d->node));
  CHECK(search.idle() == Idle::exhausted);
  CHECK(search.graph().node_count() == 36814);
  CHECK(search.violated_invariant() == "");
}

TEST_CASE("more actions than an edge can name are refused before any is tried") {
  Table table{.actions = {{}}, .rewards = {0}};
  table.actions[0].assign(kMostActions, kIllegal);
  Fixture most(table);
  CHECK(most.run().empty());
  CHECK(most.search.idle() == Idle::exhausted);
  table.actions[0].push_back(kIllegal);
  Fixture f(table);
  const std::string message =
      "node " + TableSpace::key(0).short_hex() + ": got 65534 actions, expected at most 65533";
  CHECK_THROWS_WITH_AS(static_cast<void>(f.search.next()), message.c_str(), Error);
  CHECK(f.search.graph().edge_count() == 0);
  CHECK(f.search.violated_invariant() == "");
}

TEST_CASE("the last action that an edge can name is told from a jump and a graft") {
  Table table{.actions = {{}, {}}, .rewards = {0, 1}};
  table.actions[0].assign(kMostActions, kIllegal);
  table.actions[0].back() = 1;
  Fixture f(table);
  CHECK(f.run() == std::vector<int>{1});
  CHECK(f.search.graph()[EdgeId{0}].action == kMostActions - 1);
  CHECK(f.search.violated_invariant() == "");
}

TEST_CASE("an unknown policy or sharing is refused by name") {
  TableSpace space(Table{});
  Options options;
  options.search.sharing = "forest";
  CHECK_THROWS_WITH_AS(Search(space, options, 1, TableSpace::key(0)),
                       "search.sharing: got forest, expected graph or tree", Error);
  options = {};
  options.search.selection = "greedy";
  CHECK_THROWS_AS(Search(space, options, 1, TableSpace::key(0)), Error);
}

TEST_CASE("a snapshot whose parts contradict each other is refused") {
  const Table table{.actions = {{1, 2}, {3, 0}, {3}, {4}, {}}, .rewards = {0, 0.5, kFails, 3, 1}};
  Fixture f(table);
  f.step(), f.step(), f.step();
  REQUIRE(f.search.next());
  using Arenas = test::Arenas;
  using State = Search::State;
  const std::vector<std::function<void(Arenas&, State&)>> damages{
      [](Arenas&, State& s) { s.next_sequence++; },
      [](Arenas&, State& s) { s.playouts--; },
      [](Arenas&, State& s) { s.floor = 1; },
      [](Arenas&, State& s) { s.best = NodeId{0}; },
      [](Arenas&, State& s) { s.best = kNoNode; },
      [](Arenas&, State& s) { s.rewards.count++; },
      [](Arenas&, State& s) { s.rewards.m2 = -1; },
      [](Arenas&, State& s) { s.pending.clear(); },
      [](Arenas&, State& s) { s.pending.push_back(s.pending.front()); },
      [](Arenas&, State& s) { s.pending.front().dispatch.node = NodeId{99}; },
      [](Arenas&, State& s) { s.pending.front().dispatch.parent = kNoNode; },
      [](Arenas&, State& s) { s.pending.front().dispatch.action = 9; },
      [](Arenas&, State& s) { s.pending.front().path.pop_back(); },
      [](Arenas&, State& s) { s.pending.front().path.front() = EdgeId{99}; },
      [](Arenas& a, State&) { a.nodes[0].state = NodeState::failed; },
      [](Arenas& a, State&) { a.nodes[0].visits++; },
      [](Arenas& a, State&) { a.nodes[0].live = !a.nodes[0].live; },
      [](Arenas& a, State&) { a.nodes[1].live_out++; },
      [](Arenas& a, State&) { a.nodes[1].depth = 2; },
      [](Arenas& a, State&) { a.nodes[0].best += 1; },
      [](Arenas& a, State&) { a.nodes[0].value = 50; },
      [](Arenas& a, State&) { a.nodes[0].in_flight = 0; },
      [](Arenas& a, State&) { a.nodes[0].next_action = 7; },
      [](Arenas& a, State&) { a.edges[0].visits++; },
      [](Arenas&, State& s) { s.pending.front().path.push_back(s.pending.front().path.back()); },
      [](Arenas& a, State&) { a.edges[0].action = 40; },
  };
  TableSpace restored(table, f.space.places());
  CHECK_NOTHROW(Search(restored, quiet_options(), 1,
                       test::graph_of(test::arenas_of(f.search.graph()), "s"), f.search.state(),
                       "s"));
  for (std::size_t i = 0; i < damages.size(); ++i) {
    CAPTURE(i);
    Arenas arenas = test::arenas_of(f.search.graph());
    State state = f.search.state();
    damages[i](arenas, state);
    CHECK_THROWS_AS(Search(restored, quiet_options(), 1, test::graph_of(arenas, "s"), state, "s"),
                    Error);
  }
}

TEST_CASE("a snapshot is refused when its space has other actions") {
  const Table table{.actions = {{1, 2, 3}, {}, {}, {}}, .rewards = {0, 1, 2, 3}};
  Fixture f(table);
  f.step();
  Table other = table;
  other.actions[0].pop_back();
  TableSpace space(other);
  space.create(NodeId{1}, NodeId{0}, {.action = 0}, {});
  Search search(space, quiet_options(), 1, test::graph_of(test::arenas_of(f.search.graph()), "s"),
                f.search.state(), "state.json");
  CHECK_THROWS_AS(static_cast<void>(search.next()), Error);
}

TEST_SUITE_END();
