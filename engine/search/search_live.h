#pragma once

#include <vector>

#include "engine/search/graph.h"
#include "engine/search/wide_nodes.h"

namespace warpath {

/// Maintains Node::live and Node::live_out: a node is live if it is measured and either unopened
/// above max_depth, or has untried actions, or has a forward edge to a live child. Only live nodes
/// are descended, so a playout always reaches an untried action, and nothing is left once the root
/// is not live. Forward edges form a DAG, so each worklist ends.
class LiveFlags {
 public:
  /// `wide`, which must outlive this, is told of the flags that change.
  LiveFlags(int max_depth, WideNodes& wide) : max_depth_(max_depth), wide_(&wide) {}

  /// The value of Node::live implied by the node's other fields.
  [[nodiscard]] bool expected(const Node& node) const;
  /// Call after a change of `node`'s state or cursor: sets its flag and those of its forward
  /// ancestors.
  void update(Graph& graph, NodeId node);
  /// Call after `edge` was added.
  void count_edge(Graph& graph, EdgeId edge);

 private:
  int max_depth_;
  WideNodes* wide_;
  std::vector<NodeId> worklist_;
};

}  // namespace warpath
