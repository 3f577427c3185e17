#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/search/graph.h"

namespace warpath::test {

/// All of a graph, to be compared or changed.
struct Arenas {
  std::vector<Node> nodes;
  std::vector<Edge> edges;
  std::vector<Hash128> keys;  ///< as many as nodes
};

inline Arenas arenas_of(const Graph& graph) {
  Arenas out;
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    out.keys.push_back(graph.key(NodeId{i}));
    out.nodes.push_back(graph[NodeId{i}]);
  }
  for (std::uint32_t i = 0; i < graph.edge_count(); ++i) out.edges.push_back(graph[EdgeId{i}]);
  return out;
}

/// Throws as Graph::from_rows.
inline Graph graph_of(const Arenas& arenas, std::string_view place) {
  return Graph::from_rows({.nodes = arenas.nodes.size(),
                           .edges = arenas.edges.size(),
                           .key = [&](std::uint32_t i) { return arenas.keys[i]; },
                           .node = [&](std::uint32_t i) { return arenas.nodes[i]; },
                           .edge = [&](std::uint32_t i) { return arenas.edges[i]; }},
                          place);
}

}  // namespace warpath::test
