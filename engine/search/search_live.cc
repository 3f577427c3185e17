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
    const Node n = graph[at];
    worklist_.pop_back();
    const bool live = expected(n);
    if (n.live == live) continue;
    graph.set_live(at, live);
    wide_->changed(at);
    for (EdgeId e = n.first_in; e != kNoEdge; e = graph.next_in(e)) {
      const NodeId source = graph.source(e);
      if (n.depth <= graph.depth(source)) continue;
      graph.count_live_child(source, live);
      worklist_.push_back(source);
    }
  }
}

void LiveFlags::count_edge(Graph& graph, EdgeId edge) {
  if (!graph.forward(edge) || !graph.live(graph.target(edge))) return;
  const NodeId source = graph.source(edge);
  graph.count_live_child(source, true);
  update(graph, source);
}

}  // namespace warpath
