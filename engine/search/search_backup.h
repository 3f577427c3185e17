#pragma once

#include <vector>

#include "engine/plugin/policy.h"
#include "engine/search/graph.h"
#include "engine/search/wide_nodes.h"

namespace warpath {

/// B of every node from scratch: nodes by reward descending, a backward search from each, the first
/// label wins. O(V log V + E). 0 unless measured.
[[nodiscard]] std::vector<double> reachable_best(const Graph& graph);

/// Maintains Node::best and Node::value.
class Backup {
 public:
  /// Both must outlive this; `wide` is told of what changes.
  Backup(const BackupPolicy& policy, WideNodes& wide) : policy_(&policy), wide_(&wide) {}

  /// Raises B(node) to at least `best` and propagates the increase along all in-edges, cycles
  /// included. Stops where nothing increases; as B only takes values of rewards, it terminates on
  /// any graph (Leurent and Maillard 2020, for the maximum).
  void raise_best(Graph& graph, NodeId node, double best);
  /// M(node) from its own reward and its children by edge visits. A failed child counts as `floor`,
  /// the lowest reward. Those of a wide node are summed in groups (TermSums). Idempotent.
  void recompute_value(Graph& graph, NodeId node, double floor);

 private:
  const BackupPolicy* policy_;
  WideNodes* wide_;
  std::vector<NodeId> worklist_;
  std::vector<ChildTerm> terms_;
};

}  // namespace warpath
