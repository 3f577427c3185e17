#include "engine/search/graph.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "tests/support/graph_arenas.h"

using namespace warpath;

namespace {

Hash128 key(std::uint64_t i) {
  return {.high = 7, .low = i};
}

/// 0 -> 1, 0 -> 2, 1 -> 2, 2 -> 0.
Graph triangle() {
  Graph g;
  bool created = false;
  const NodeId root = g.find_or_insert(key(0), 0, created);
  const NodeId a = g.find_or_insert(key(1), 1, created);
  g.add_edge(root, a, 0, 0.5F);
  const NodeId b = g.find_or_insert(key(2), 1, created);
  g.add_edge(root, b, 1, 0.5F);
  g.add_edge(a, b, 0, 1);
  g.add_edge(b, root, 0, 1);
  return g;
}

/// Every field of every node and edge.
struct Plain : test::Arenas {
  void add_node(Graph& g) {
    keys.push_back(key(keys.size()));
    nodes.push_back({.depth = static_cast<std::uint16_t>(keys.size() % 4)});
    bool created = false;
    g.find_or_insert(keys.back(), nodes.back().depth, created);
  }
  void add_edge(Graph& g, NodeId source, NodeId target, std::uint32_t action, float prior) {
    const bool known = std::ranges::any_of(
        edges, [&](const Edge& e) { return e.source == source && e.target == target; });
    CHECK((g.find_edge(source, target) != kNoEdge) == known);
    if (known) return;
    const EdgeId id = g.add_edge(source, target, action, prior);
    Node &from = nodes[index(source)], &to = nodes[index(target)];
    (from.last_out == kNoEdge ? from.first_out : edges[index(from.last_out)].next_out) = id;
    from.last_out = id;
    const EdgeId next_in =
        to.first_in == kNoEdge ? kNoEdge : std::exchange(edges[index(to.first_in)].next_in, id);
    if (to.first_in == kNoEdge) to.first_in = id;
    edges.push_back({.source = source,
                     .target = target,
                     .next_in = next_in,
                     .action = static_cast<std::uint16_t>(action),
                     .prior = BFloat16(prior)});
  }
};

/// Bit by bit.
std::string bytes_of(const test::Arenas& arenas) {
  std::string out;
  const auto append = [&](const auto& items) {
    out.append(reinterpret_cast<const char*>(items.data()), items.size() * sizeof items[0]);
  };
  append(arenas.keys), append(arenas.nodes), append(arenas.edges);
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("graph");

TEST_CASE("equal keys are one node") {
  Graph g;
  bool created = false;
  const NodeId first = g.find_or_insert(key(1), 0, created);
  CHECK(created);
  CHECK(g.find_or_insert(key(1), 5, created) == first);
  CHECK(!created);
  CHECK(g[first].depth == 0);
  CHECK(g.find(key(2)) == kNoNode);
  CHECK(Graph().find(key(1)) == kNoNode);
}

TEST_CASE("the table agrees with a map over many colliding keys") {
  Graph g;
  Rng rng(1, "keys");
  std::map<Hash128, NodeId> expected;
  for (int i = 0; i < 20000; ++i) {
    // Few low halves: long probe sequences.
    const Hash128 k{.high = rng.below(64), .low = rng.below(128)};
    bool created = false;
    const NodeId id = g.find_or_insert(k, 0, created);
    const auto [it, inserted] = expected.try_emplace(k, id);
    CHECK(created == inserted);
    CHECK(it->second == id);
  }
  CHECK(g.node_count() == expected.size());
  for (const auto& [k, id] : expected) CHECK(g.find(k) == id);
}

TEST_CASE("edges are listed at both ends, the creating one first") {
  const Graph g = triangle();
  CHECK(g.edge_count() == 4);
  CHECK(g.find_edge(NodeId{0}, NodeId{2}) == EdgeId{1});
  CHECK(g.find_edge(NodeId{1}, NodeId{2}) == EdgeId{2});
  CHECK(g.find_edge(NodeId{2}, NodeId{1}) == kNoEdge);
  CHECK(g[NodeId{0}].first_out == EdgeId{0});
  CHECK(g[EdgeId{0}].next_out == EdgeId{1});
  CHECK(g[NodeId{0}].last_out == EdgeId{1});
  CHECK(g[NodeId{2}].first_in == EdgeId{1});
  CHECK(g[EdgeId{1}].next_in == EdgeId{2});
}

TEST_CASE("an edge is forward only if it leads deeper") {
  const Graph g = triangle();
  CHECK(g.forward(EdgeId{0}));
  CHECK(!g.forward(EdgeId{2}));
  CHECK(!g.forward(EdgeId{3}));
}

TEST_CASE("find_edge finds what a scan finds") {
  Graph g;
  Rng rng(2, "edges");
  bool created = false;
  for (std::uint64_t i = 0; i < 12; ++i)
    g.find_or_insert(key(i), static_cast<std::uint16_t>(i), created);
  std::map<std::pair<NodeId, NodeId>, EdgeId> expected;
  for (int i = 0; i < 200; ++i) {
    const auto ends = std::pair(NodeId{static_cast<std::uint32_t>(rng.below(12))},
                                NodeId{static_cast<std::uint32_t>(rng.below(12))});
    const auto it = expected.find(ends);
    CHECK(g.find_edge(ends.first, ends.second) == (it == expected.end() ? kNoEdge : it->second));
    if (it == expected.end()) expected[ends] = g.add_edge(ends.first, ends.second, 0, 1);
  }
}

TEST_CASE("the fingerprint covers every field") {
  using Arenas = test::Arenas;
  const std::vector<std::function<void(Arenas&)>> changes{
      [](Arenas&) {},
      [](Arenas& a) { a.nodes[1].reward = 1; },
      [](Arenas& a) { a.nodes[1].best = 1; },
      [](Arenas& a) { a.nodes[1].value = -0.0; },
      [](Arenas& a) { a.nodes[1].in_flight = 1; },
      [](Arenas& a) { a.nodes[1].in_flight = 2; },
      [](Arenas& a) { a.nodes[1].next_action = 1; },
      [](Arenas& a) { a.nodes[1].action_count = 1; },
      [](Arenas& a) { a.nodes[1].live_out = 1; },
      [](Arenas& a) { a.nodes[1].depth = 9; },
      [](Arenas& a) { a.nodes[1].state = NodeState::failed; },
      [](Arenas& a) { a.nodes[1].opened = true; },
      [](Arenas& a) { a.nodes[1].live = true; },
      [](Arenas& a) { a.nodes[0].visits = 1; },
      [](Arenas& a) { a.nodes[2].visits = a.edges[1].visits = 1; },
      [](Arenas& a) { a.nodes[2].visits = a.edges[2].visits = 1; },
      [](Arenas& a) { a.edges[2].action = 7; },
      [](Arenas& a) { a.edges[2].prior = BFloat16(0.25F); }};
  std::set<Hash128> seen;
  for (std::size_t i = 0; i < changes.size(); ++i) {
    CAPTURE(i);
    Arenas arenas = test::arenas_of(triangle());
    changes[i](arenas);
    CHECK(seen.insert(test::graph_of(arenas, "state").fingerprint()).second);
  }
  Graph other = triangle();  // of the same nodes, with another edge
  other.add_edge(NodeId{2}, NodeId{1}, 0, 1);
  CHECK(seen.insert(other.fingerprint()).second);
}

TEST_CASE("nodes and edges are what became of them, however little of that is stored") {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "graph");
    const auto below = [&](std::size_t n) { return static_cast<std::uint32_t>(rng.below(n)); };
    Graph g;
    Plain plain;
    for (int step = 0; step < 400; ++step) {
      if (step < 3 || below(8) == 0) plain.add_node(g);
      const NodeId id{below(plain.nodes.size())};
      Node& n = plain.nodes[index(id)];
      n.reward = n.best = n.value = rng.uniform();
      n.state = NodeState::measured;
      g.measure(id, n.reward);
      if (below(2) == 0) g.set_best(id, n.best = rng.uniform());
      if (below(2) == 0) g.set_value(id, n.value = rng.uniform());
      if (below(2) == 0) g.set_live(id, n.live = !n.live);
      if (below(2) == 0) g.count_live_child(id, true), ++n.live_out;
      if (below(4) == 0) n.opened = true, g.open(id, n.action_count = 9);
      if (n.next_action < n.action_count) g.try_action(id), ++n.next_action;
      if (below(2) == 0) {
        g.reserve(id), ++n.in_flight;
      } else if (n.in_flight > 0) {
        g.release(id), --n.in_flight;
      }
      for (std::uint32_t i = below(6); i > 0; --i)
        plain.add_edge(g, id, NodeId{below(plain.nodes.size())}, below(9),
                       below(8) == 0 ? 1 : 0.5F);
      if (plain.edges.empty()) continue;
      const EdgeId edge{below(plain.edges.size())};
      if (plain.edges[index(edge)].target == kRoot) continue;
      g.visit(edge);
      ++plain.edges[index(edge)].visits;
      ++plain.nodes[index(plain.edges[index(edge)].target)].visits;
    }
    const std::string expected = bytes_of(plain);
    CHECK(bytes_of(test::arenas_of(g)) == expected);
    CHECK(bytes_of(test::arenas_of(test::graph_of(test::arenas_of(g), "state"))) == expected);
    for (std::uint32_t i = 0; i < g.node_count(); ++i) {
      EdgeId edge = plain.nodes[i].first_out;
      for (const Graph::Out& out : g.out(NodeId{i})) {
        REQUIRE(out.edge == edge);
        REQUIRE(out.target == plain.edges[index(edge)].target);
        REQUIRE(out.prior == plain.edges[index(edge)].prior);
        edge = plain.edges[index(edge)].next_out;
      }
      CHECK(edge == kNoEdge);
    }
  }
}

TEST_CASE("a graph restored from its arenas is the same and goes on the same") {
  Graph live = triangle();
  Graph restored = test::graph_of(test::arenas_of(live), "state");
  CHECK(restored.fingerprint() == live.fingerprint());
  CHECK(restored.find(key(2)) == NodeId{2});
  for (Graph* g : {&live, &restored}) {
    bool created = false;
    g->add_edge(NodeId{1}, g->find_or_insert(key(3), 2, created), 1, 0.5F);
  }
  CHECK(restored.fingerprint() == live.fingerprint());
}

TEST_CASE("arenas that do not fit together are refused") {
  const std::vector<std::function<void(test::Arenas&)>> damages{
      [](auto& a) { a = {}; },
      [](auto& a) { a.keys[1] = a.keys[2]; },
      [](auto& a) { a.edges[0].target = NodeId{3}; },
      [](auto& a) { a.edges[0].source = NodeId{1}; },
      [](auto& a) { a.edges[0].next_out = kNoEdge; },
      [](auto& a) { a.edges[0].next_out = EdgeId{9}; },
      [](auto& a) { a.edges[1].next_out = EdgeId{0}; },
      [](auto& a) { a.edges[2].next_in = EdgeId{1}; },
      [](auto& a) { a.nodes[0].last_out = EdgeId{0}; },
      [](auto& a) { a.nodes[1].first_in = kNoEdge; },
      [](auto& a) { a.nodes[1].state = static_cast<NodeState>(3); },
      [](auto& a) { a.nodes[1].reward = 1 / (a.nodes[1].reward * 0); },
      [](auto& a) { a.edges.pop_back(); },
  };
  for (std::size_t i = 0; i < damages.size(); ++i) {
    CAPTURE(i);
    test::Arenas arenas = test::arenas_of(triangle());
    damages[i](arenas);
    CHECK_THROWS_AS(static_cast<void>(test::graph_of(arenas, "state")), Error);
  }
}

TEST_SUITE_END();
