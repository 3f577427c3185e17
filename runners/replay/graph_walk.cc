#include "runners/replay/graph_walk.h"

#include <numeric>

#include "engine/error.h"

namespace warpath {

void GraphWalk::open(NodeId node, std::vector<float>& priors) {
  const RecordedGraph::Node& at = graph_.node(row(node));
  priors.assign(at.actions.size(), at.actions.empty() ? 0.0F : 1.0F / static_cast<float>(at.actions.size()));
  if (steps_.prior == nullptr || at.actions.empty()) return;
  std::vector<Proposal> proposals;
  for (const RecordedGraph::Action& action : at.actions) {
    proposals.push_back({.instance = action.instance, .weight = action.weight, .source = action.source, .variant = std::nullopt, .why = ""});
  }
  std::vector<double> weighed(proposals.size());
  steps_.prior->evaluate({.at = {graph_.spec(), at.variant, graph_.facts()}, .node_key = at.key, .outcome = &at.outcome}, proposals, weighed);
  const double sum = std::accumulate(weighed.begin(), weighed.end(), 0.0);
  if (!(sum > 0)) return;
  for (std::size_t i = 0; i < priors.size(); ++i) priors[i] = static_cast<float>(weighed[i] / sum);
}

std::optional<Hash128> GraphWalk::apply(NodeId node, std::uint32_t action) {
  const RecordedGraph::Action& step = graph_.node(row(node)).actions[action];
  if (steps_.without.contains(step.instance.move)) return std::nullopt;
  return graph_.node(step.target).key;
}

void GraphWalk::adopt(NodeId child, NodeId parent, std::uint32_t action) {
  WARPATH_CHECK(index(child) == rows_.size());
  rows_.push_back(graph_.node(row(parent)).actions[action].target);
}

}  // namespace warpath
