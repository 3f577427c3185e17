#pragma once

#include <vector>

#include "engine/search/graph.h"

namespace warpath {

/// Keeps Node::live and Node::live_out: a node is live if it is measured and is still to be opened
/// above max_depth, or has untried actions, or a forward edge to a live child. Only live
/// nodes are descended, so a playout always reaches an untried action, and a root that is not live
/// proves that nothing is left. Forward edges form a DAG: each worklist ends.
class LiveFlags {
 public:
  explicit LiveFlags(int max_depth) : max_depth_(max_depth) {}

  /// What Node::live must be, given the node's other fields.
  [[nodiscard]] bool expected(const Node& node) const;
  /// After a change of `node`'s state or cursor: sets its flag and those of its forward ancestors.
  void update(Graph& graph, NodeId node);
  /// After `edge` was added.
  void count_edge(Graph& graph, EdgeId edge);

 private:
  int max_depth_;
  std::vector<NodeId> worklist_;
};

}  // namespace warpath
