#include "engine/search/search_live.h"

namespace warpath {

bool LiveFlags::expected(const Node& node) const {
  if (node.state != NodeState::measured) return false;
  const bool untried = node.opened ? node.next_action < node.action_count : node.depth < max_depth_;
  return untried || node.live_out > 0;
}

void LiveFlags::update(Graph& graph, NodeId node) {
  worklist_.assign(1, node);
  while (!worklist_.empty()) {
    const NodeId at = worklist_.back();
    Node& n = graph[at];
    worklist_.pop_back();
    if (n.live == expected(n)) continue;
    n.live = !n.live;
    wide_->changed(at);
    for (EdgeId e = n.first_in; e != kNoEdge; e = graph[e].next_in) {
      if (!graph.forward(graph[e])) continue;
      const NodeId source = graph[e].source;
      n.live ? ++graph[source].live_out : --graph[source].live_out;
      worklist_.push_back(source);
    }
  }
}

void LiveFlags::count_edge(Graph& graph, EdgeId edge) {
  const Edge& e = graph[edge];
  if (!graph.forward(e) || !graph[e.target].live) return;
  ++graph[e.source].live_out;
  update(graph, e.source);
}

}  // namespace warpath
