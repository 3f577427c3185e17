#include "engine/search_backup.h"

#include <algorithm>

namespace warpath {

std::vector<NodeId> deepest_first(const Graph& graph) {
  std::vector<NodeId> order(graph.node_count());
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) order[i] = NodeId{i};
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return graph[a].depth > graph[b].depth; });
  return order;
}

std::vector<double> reachable_best(const Graph& graph) {
  std::vector<NodeId> order;
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    if (graph[NodeId{i}].state == NodeState::measured) order.push_back(NodeId{i});
  }
  std::stable_sort(order.begin(), order.end(), [&](NodeId a, NodeId b) { return graph[a].reward > graph[b].reward; });
  std::vector<double> best(graph.node_count());
  std::vector<char> labelled(graph.node_count());
  std::vector<NodeId> stack;
  for (const NodeId origin : order) {
    stack.assign(1, origin);
    while (!stack.empty()) {
      const NodeId v = stack.back();
      stack.pop_back();
      if (labelled[index(v)] != 0) continue;
      labelled[index(v)] = 1;
      best[index(v)] = graph[origin].reward;
      for (EdgeId e = graph[v].first_in; e != kNoEdge; e = graph[e].next_in) stack.push_back(graph[e].source);
    }
  }
  return best;
}

void Backup::raise_best(Graph& graph, NodeId node, double best) {
  if (graph[node].best >= best) return;
  graph[node].best = best;
  worklist_.assign(1, node);
  while (!worklist_.empty()) {
    const NodeId v = worklist_.back();
    worklist_.pop_back();
    for (EdgeId e = graph[v].first_in; e != kNoEdge; e = graph[e].next_in) {
      Node& source = graph[graph[e].source];
      if (source.best >= best) continue;
      source.best = best;
      worklist_.push_back(graph[e].source);
    }
  }
}

void Backup::recompute_value(Graph& graph, NodeId node, double floor) {
  terms_.clear();
  Node& n = graph[node];
  for (EdgeId e = n.first_out; e != kNoEdge; e = graph[e].next_out) {
    const Edge& edge = graph[e];
    if (edge.visits == 0) continue;
    const Node& child = graph[edge.target];
    const bool measured = child.state == NodeState::measured;
    terms_.push_back({edge.visits, measured ? child.value : floor, measured ? child.best : floor});
  }
  n.value = policy_->node_value(n.reward, terms_);
}

void Backup::rebuild(Graph& graph, double floor) {
  const std::vector<double> best = reachable_best(graph);
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) graph[NodeId{i}].best = best[i];
  for (const NodeId v : deepest_first(graph)) {
    if (graph[v].state == NodeState::measured) recompute_value(graph, v, floor);
  }
}

}  // namespace warpath
