#pragma once

#include <vector>

#include "engine/search/graph.h"

namespace warpath {

// How the nodes of a graph derive from its root: a derivation of a node is a path from the root to
// it, over any edges. Pure functions of the graph.

/// The strongly connected components of at least two nodes: moves lead from each node to every
/// other and back, so some undo others. Largest first, ties by lowest id; nodes ascending. O(V log
/// V + E).
[[nodiscard]] std::vector<std::vector<NodeId>> cycles(const Graph& graph);

/// The edges of a shortest derivation of `node`; deterministic among several. Empty for the root
/// and for a node without a derivation. O(V + E).
[[nodiscard]] std::vector<EdgeId> shortest_derivation(const Graph& graph, NodeId node);

/// A node that every derivation of another one passes through.
struct Dominator {
  NodeId node = kNoNode;
  /// The edges by which a derivation first reaches it: every derivation contains exactly one of
  /// them. Excludes edges from nodes that it dominates itself.
  std::vector<EdgeId> entries;
};
/// The dominators of `node` (Lengauer and Tarjan 1979) in the order in which derivations pass them,
/// without the root, ending with `node` itself. Empty for the root and for a node without a
/// derivation. O(E log V).
[[nodiscard]] std::vector<Dominator> dominators(const Graph& graph, NodeId node);

}  // namespace warpath
