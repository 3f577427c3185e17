#include "engine/search/derivation.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "tests/support/random_graph.h"

using namespace warpath;
using test::random_graph;

namespace {

constexpr std::uint64_t kSeeds = 200;

using Nodes = std::vector<std::uint32_t>;

/// The graph of these edges; edges must come after one that reaches their source.
Graph graph_of(const std::vector<std::pair<std::uint32_t, std::uint32_t>>& edges) {
  Graph g;
  bool created = false;
  g.find_or_insert({.high = 0, .low = 0}, 0, created);
  for (const auto& [from, to] : edges) {
    const auto depth = static_cast<std::uint16_t>(g[NodeId{from}].depth + 1);
    const NodeId target = g.find_or_insert({.high = 0, .low = to}, depth, created);
    REQUIRE(index(target) == to);
    g.add_edge(NodeId{from}, target, 0, 1);
  }
  return g;
}

/// Fewest edges from the root to each node without passing `without`; absent: there is no way.
std::map<NodeId, std::size_t> distances(const Graph& g, NodeId without = kNoNode) {
  std::map<NodeId, std::size_t> out;
  std::vector<NodeId> ring;
  if (without != kRoot) out[kRoot] = 0, ring.push_back(kRoot);
  for (std::size_t d = 1; !ring.empty(); ++d) {
    std::vector<NodeId> next;
    for (std::uint32_t e = 0; e < g.edge_count(); ++e) {
      const Edge& edge = g[EdgeId{e}];
      if (std::ranges::find(ring, edge.source) == ring.end() || edge.target == without) continue;
      if (out.emplace(edge.target, d).second) next.push_back(edge.target);
    }
    ring = std::move(next);
  }
  return out;
}

Nodes dominating(const Graph& g, std::uint32_t node) {
  Nodes out;
  for (const Dominator& d : dominators(g, NodeId{node})) out.push_back(index(d.node));
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("derivation");

TEST_CASE("a chain with moves back: one cycle, one way, every node on it") {
  //  0 -> 1 -> 2 -> 3,  3 -> 2,  2 -> 1
  const Graph g = graph_of({{0, 1}, {1, 2}, {2, 3}, {3, 2}, {2, 1}});
  CHECK(cycles(g) == std::vector<std::vector<NodeId>>{{NodeId{1}, NodeId{2}, NodeId{3}}});
  CHECK(shortest_derivation(g, NodeId{3}) == std::vector{EdgeId{0}, EdgeId{1}, EdgeId{2}});
  CHECK(dominating(g, 3) == Nodes{1, 2, 3});
  // 1 is entered from the root alone: the way back comes from what it dominates
  CHECK(dominators(g, NodeId{3}).front().entries == std::vector{EdgeId{0}});
}

TEST_CASE("a diamond has two ways and no node but its end in common") {
  const Graph g = graph_of({{0, 1}, {0, 2}, {1, 3}, {2, 3}});
  CHECK(cycles(g).empty());
  CHECK(shortest_derivation(g, NodeId{3}).size() == 2);
  CHECK(dominating(g, 3) == Nodes{3});
  const std::vector<EdgeId> entries = dominators(g, NodeId{3}).front().entries;
  CHECK(std::set(entries.begin(), entries.end()) == std::set{EdgeId{2}, EdgeId{3}});
}

TEST_CASE("a short cut found late is the shortest way, and the detour dominates no more") {
  //  0 -> 1 -> 2 -> 3 -> 4,  0 -> 3
  const Graph g = graph_of({{0, 1}, {1, 2}, {2, 3}, {3, 4}, {0, 3}});
  CHECK(shortest_derivation(g, NodeId{4}) == std::vector{EdgeId{4}, EdgeId{3}});
  CHECK(dominating(g, 4) == Nodes{3, 4});
}

TEST_CASE("cycles are told apart, the largest first; a self-loop is none") {
  //  0 <-> 1,  0 -> 2 -> 3 -> 4 -> 2,  0 -> 5 -> 5
  const Graph g = graph_of({{0, 1}, {1, 0}, {0, 2}, {2, 3}, {3, 4}, {4, 2}, {0, 5}, {5, 5}});
  CHECK(cycles(g) == std::vector<std::vector<NodeId>>{{NodeId{2}, NodeId{3}, NodeId{4}},
                                                      {NodeId{0}, NodeId{1}}});
  CHECK(dominating(g, 5) == Nodes{5});
}

TEST_CASE("the root has nothing before it, nor has a node without a way to it") {
  Graph g = graph_of({{0, 1}, {1, 0}});
  CHECK(shortest_derivation(g, kRoot).empty());
  CHECK(dominators(g, kRoot).empty());
  bool created = false;
  const NodeId lost = g.find_or_insert({.high = 0, .low = 2}, 1, created);
  g.add_edge(lost, NodeId{1}, 0, 1);
  CHECK(shortest_derivation(g, lost).empty());
  CHECK(dominators(g, lost).empty());
  // nor does it lead anywhere
  CHECK(dominators(g, NodeId{1}).front().entries == std::vector{EdgeId{0}});
}

TEST_CASE(
    "a dominator is a node without which there is no way, an entry an edge that may come "
    "first") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Graph g = random_graph(seed, 4 + static_cast<std::uint32_t>(seed % 20), 12);
    for (std::uint32_t v = 1; v < g.node_count(); ++v) {
      CAPTURE(v);
      std::set<NodeId> needed;
      for (std::uint32_t w = 1; w < g.node_count(); ++w) {
        if (!distances(g, NodeId{w}).contains(NodeId{v})) needed.insert(NodeId{w});
      }
      std::set<NodeId> found;
      NodeId before = kRoot;
      for (const Dominator& d : dominators(g, NodeId{v})) {
        CHECK(found.insert(d.node).second);
        // in the order of every way: without the earlier one there is none to the later
        if (before != kRoot) CHECK_FALSE(distances(g, before).contains(d.node));
        before = d.node;
        const auto ways = distances(g, d.node);  // that have not come to it yet
        std::set<EdgeId> first;
        for (std::uint32_t e = 0; e < g.edge_count(); ++e) {
          const Edge& edge = g[EdgeId{e}];
          if (edge.target == d.node && ways.contains(edge.source)) first.insert(EdgeId{e});
        }
        CHECK(std::set(d.entries.begin(), d.entries.end()) == first);
      }
      CHECK(before == NodeId{v});
      CHECK(found == needed);
    }
  }
}

TEST_CASE("a shortest derivation is a way, and none is shorter") {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    CAPTURE(seed);
    const Graph g = random_graph(seed, 30, 30);
    const auto fewest = distances(g);
    for (std::uint32_t v = 0; v < g.node_count(); ++v) {
      NodeId at = kRoot;
      const std::vector<EdgeId> way = shortest_derivation(g, NodeId{v});
      for (const EdgeId e : way) {
        CHECK(g[e].source == at);
        at = g[e].target;
      }
      CHECK(at == NodeId{v});
      CHECK(way.size() == fewest.at(NodeId{v}));
      CHECK(way.size() <= g[NodeId{v}].depth);  // the creating path is one way there
    }
  }
}

TEST_CASE("two nodes are on a cycle if each is reached from the other") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Graph g = random_graph(seed, 20, 15);
    const std::size_t n = g.node_count();
    // by Warshall's algorithm
    std::vector<std::vector<bool>> reach(n, std::vector<bool>(n));
    for (std::uint32_t e = 0; e < g.edge_count(); ++e)
      reach[index(g[EdgeId{e}].source)][index(g[EdgeId{e}].target)] = true;
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j)
          reach[i][j] = reach[i][j] || (reach[i][k] && reach[k][j]);
      }
    }
    std::vector<std::size_t> group(n);  // 0: none
    const auto found = cycles(g);
    for (std::size_t i = 0; i < found.size(); ++i) {
      if (i > 0) CHECK(found[i].size() <= found[i - 1].size());
      for (const NodeId v : found[i]) {
        CHECK(group[index(v)] == 0);
        group[index(v)] = i + 1;
      }
    }
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        if (a != b) CHECK((group[a] != 0 && group[a] == group[b]) == (reach[a][b] && reach[b][a]));
      }
    }
  }
}

TEST_SUITE_END();
