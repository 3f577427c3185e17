#pragma once

#include <cstdint>

#include "engine/base/rng.h"
#include "engine/search/graph.h"

namespace warpath::test {

/// A random graph as a search makes it: node i > 0 is made by an earlier node, one deeper, then
/// more edges are added.
inline Graph random_graph(std::uint64_t seed, std::uint32_t nodes, std::uint32_t more_edges) {
  Rng rng(seed, "graph");
  Graph g;
  bool created = false;
  g.find_or_insert({.high = 0, .low = 0}, 0, created);
  for (std::uint32_t i = 1; i < nodes; ++i) {
    const NodeId parent{static_cast<std::uint32_t>(rng.below(i))};
    const NodeId child = g.find_or_insert({.high = 0, .low = i},
                                          static_cast<std::uint16_t>(g[parent].depth + 1), created);
    g.add_edge(parent, child, 0, 1);
  }
  for (std::uint32_t i = 0; i < more_edges; ++i) {
    const NodeId a{static_cast<std::uint32_t>(rng.below(nodes))};
    const NodeId b{static_cast<std::uint32_t>(rng.below(nodes))};
    if (g.find_edge(a, b) == kNoEdge) g.add_edge(a, b, i, 1);
  }
  return g;
}

}  // namespace warpath::test
