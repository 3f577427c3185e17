#include "engine/search/graph.h"

#include <doctest/doctest.h>

#include <functional>
#include <map>

#include "engine/base/error.h"
#include "engine/base/rng.h"

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
  CHECK(g.forward(g[EdgeId{0}]));
  CHECK(!g.forward(g[EdgeId{2}]));
  CHECK(!g.forward(g[EdgeId{3}]));
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
  const Hash128 before = triangle().fingerprint();
  CHECK(triangle().fingerprint() == before);
  const std::vector<std::function<void(Node&)>> node_changes{
      [](Node& n) { n.reward = 1; },
      [](Node& n) { n.best = 1; },
      [](Node& n) { n.value = -0.0; },
      [](Node& n) { n.visits = 1; },
      [](Node& n) { n.in_flight = 1; },
      [](Node& n) { n.first_out = EdgeId{3}; },
      [](Node& n) { n.last_out = EdgeId{3}; },
      [](Node& n) { n.first_in = EdgeId{2}; },
      [](Node& n) { n.next_action = 1; },
      [](Node& n) { n.action_count = 1; },
      [](Node& n) { n.live_out = 1; },
      [](Node& n) { n.depth = 9; },
      [](Node& n) { n.state = NodeState::failed; },
      [](Node& n) { n.opened = true; },
      [](Node& n) { n.live = true; }};
  for (std::size_t i = 0; i < node_changes.size(); ++i) {
    CAPTURE(i);
    Graph g = triangle();
    node_changes[i](g[NodeId{1}]);
    CHECK(g.fingerprint() != before);
  }
  const std::vector<std::function<void(Edge&)>> edge_changes{
      [](Edge& e) { e.source = NodeId{2}; },
      [](Edge& e) { e.target = NodeId{0}; },
      [](Edge& e) { e.next_out = EdgeId{3}; },
      [](Edge& e) { e.next_in = EdgeId{3}; },
      [](Edge& e) { e.action = 7; },
      [](Edge& e) { e.prior = BFloat16(0.25F); },
      [](Edge& e) { e.visits = 1; }};
  for (std::size_t i = 0; i < edge_changes.size(); ++i) {
    CAPTURE(i);
    Graph g = triangle();
    edge_changes[i](g[EdgeId{2}]);
    CHECK(g.fingerprint() != before);
  }
}

TEST_CASE("a graph restored from its arenas is the same and goes on the same") {
  Graph live = triangle();
  Graph restored = Graph::from_arenas(live.arenas(), "state");
  CHECK(restored.fingerprint() == live.fingerprint());
  CHECK(restored.find(key(2)) == NodeId{2});
  for (Graph* g : {&live, &restored}) {
    bool created = false;
    g->add_edge(NodeId{1}, g->find_or_insert(key(3), 2, created), 1, 0.5F);
  }
  CHECK(restored.fingerprint() == live.fingerprint());
}

TEST_CASE("arenas that do not fit together are refused") {
  const std::vector<std::function<void(Graph::Arenas&)>> damages{
      [](auto& a) { a = {}; },
      [](auto& a) { a.keys.pop_back(); },
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
    Graph::Arenas arenas = triangle().arenas();
    damages[i](arenas);
    CHECK_THROWS_AS(static_cast<void>(Graph::from_arenas(arenas, "state")), Error);
  }
}

TEST_SUITE_END();
