#include "engine/search/search_backup.h"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

namespace warpath {

namespace {

/// The sources of the edges into each node, in contiguous memory: for a pass over everything.
class Parents {
 public:
  explicit Parents(const Graph& graph)
      : begin_(graph.node_count() + std::size_t{1}), sources_(graph.edge_count()) {
    for (std::uint32_t i = 0; i < graph.edge_count(); ++i)
      ++begin_[index(graph.target(EdgeId{i})) + std::size_t{1}];
    for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
    std::vector<std::uint32_t> next(begin_);
    for (std::uint32_t i = 0; i < graph.edge_count(); ++i)
      sources_[next[index(graph.target(EdgeId{i}))]++] = graph.source(EdgeId{i});
  }
  [[nodiscard]] std::span<const NodeId> of(NodeId node) const {
    const std::size_t begin = begin_[index(node)];
    return std::span(sources_).subspan(begin, begin_[index(node) + std::size_t{1}] - begin);
  }

 private:
  std::vector<std::uint32_t> begin_;  // by NodeId, and one more
  std::vector<NodeId> sources_;
};

}  // namespace

std::vector<double> reachable_best(const Graph& graph) {
  std::vector<std::pair<double, NodeId>> order;  // -r
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    if (graph.state(NodeId{i}) == NodeState::measured)
      order.emplace_back(-graph.reward(NodeId{i}), NodeId{i});
  }
  std::sort(order.begin(), order.end());
  const Parents parents(graph);
  std::vector<double> best(graph.node_count());
  std::vector<char> labelled(graph.node_count());
  std::vector<NodeId> stack;
  for (const auto& [negative, origin] : order) {
    stack.assign(1, origin);
    while (!stack.empty()) {
      const NodeId v = stack.back();
      stack.pop_back();
      if (labelled[index(v)] != 0) continue;
      labelled[index(v)] = 1;
      best[index(v)] = graph.reward(origin);
      for (const NodeId parent : parents.of(v)) {
        if (labelled[index(parent)] == 0) stack.push_back(parent);
      }
    }
  }
  return best;
}

void Backup::raise_best(Graph& graph, NodeId node, double best) {
  if (graph.best(node) >= best) return;
  graph.set_best(node, best);
  wide_->changed(node);
  worklist_.assign(1, node);
  while (!worklist_.empty()) {
    const NodeId v = worklist_.back();
    worklist_.pop_back();
    for (EdgeId e = graph[v].first_in; e != kNoEdge; e = graph.next_in(e)) {
      const NodeId source = graph.source(e);
      if (graph.best(source) >= best) continue;
      graph.set_best(source, best);
      wide_->changed(source);
      worklist_.push_back(source);
    }
  }
}

void Backup::recompute_value(Graph& graph, NodeId node, double floor) {
  terms_.clear();
  const WideNodes::Wide* wide = wide_->find(graph, node);
  if (wide == nullptr) {
    std::size_t edges = 0;
    for (const Graph::Out& out : graph.out(node)) {
      ++edges;
      const std::uint32_t visits = graph.visits(out.edge);
      if (visits == 0) continue;
      const bool measured = graph.state(out.target) == NodeState::measured;
      ChildTerm& term = terms_.emplace_back();
      term.edge_visits = visits;
      term.value = measured ? graph.value(out.target) : floor;
      term.best = measured ? graph.best(out.target) : floor;
    }
    if (edges > WideNodes::kMostLooked) wide = &wide_->add(graph, node);
  }
  if (wide != nullptr) {
    const TermSums::Term all = wide->terms.total();
    terms_.clear();
    if (all.visits > 0)
      terms_.push_back({all.visits, all.value / static_cast<double>(all.visits), all.best});
    if (all.failed > 0) terms_.push_back({all.failed, floor, floor});
  }
  graph.set_value(node, policy_->node_value(graph[node].reward, terms_));
  wide_->changed(node);
}

}  // namespace warpath
