#pragma once

#include <vector>

#include "engine/search/graph.h"

namespace warpath {

/// Keeps Node::live and Node::live_out: a node is live if it is measured and is still to be opened
/// above max_depth, or has untried actions, or an edge that descends() to a live child. Only live
/// nodes are descended, so a playout always reaches an untried action, and a root that is not live
/// proves that nothing is left. Forward edges form a DAG: each worklist ends.
class LiveFlags {
 public:
  /// `creating_only`: of forward edges only the one that made a node is descended (search.descend).
  explicit LiveFlags(int max_depth, bool creating_only = false)
      : max_depth_(max_depth), creating_only_(creating_only) {}

  /// True if playouts may take `edge`: it is forward, or more.
  [[nodiscard]] bool descends(const Graph& graph, EdgeId edge) const {
    const Edge& e = graph[edge];
    return graph.forward(e) && (!creating_only_ || graph[e.target].first_in == edge);
  }

  /// What Node::live must be, given the node's other fields.
  [[nodiscard]] bool expected(const Node& node) const;
  /// After a change of `node`'s state or cursor: sets its flag and those of its forward ancestors.
  void update(Graph& graph, NodeId node);
  /// After `edge` was added.
  void count_edge(Graph& graph, EdgeId edge);

 private:
  int max_depth_;
  bool creating_only_;
  std::vector<NodeId> worklist_;
};

}  // namespace warpath
