#pragma once

#include <vector>

#include "engine/search/graph.h"

namespace warpath {

// How the nodes of a graph derive from its root: a derivation of a node is a path from the root to
// it, over any edges. Pure functions of the graph.

/// The strongly connected components of two nodes or more: moves lead from each of their nodes to
/// every other and back, so some of them undo others. The largest first, of equals the one with
/// the lowest id; nodes in ascending order. O(V log V + E).
[[nodiscard]] std::vector<std::vector<NodeId>> cycles(const Graph& graph);

/// The edges of a derivation of `node` that has as few as any; of several such always the same one.
/// Empty for the root and for a node that has no derivation. O(V + E).
[[nodiscard]] std::vector<EdgeId> shortest_derivation(const Graph& graph, NodeId node);

/// A node that every derivation of another one passes.
struct Dominator {
  NodeId node = kNoNode;
  /// The edges by which a derivation comes to it for the first time: every derivation has exactly
  /// one of them. Edges from nodes that it dominates itself are not among them.
  std::vector<EdgeId> entries;
};
/// The dominators of `node` (Lengauer and Tarjan 1979) in the order in which derivations pass them,
/// the root left out, `node` itself last. Empty for the root and for a node that has no derivation.
/// O(E log V).
[[nodiscard]] std::vector<Dominator> dominators(const Graph& graph, NodeId node);

}  // namespace warpath
