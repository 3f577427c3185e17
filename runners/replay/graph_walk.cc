#include "runners/replay/graph_walk.h"

#include <algorithm>
#include <numeric>

#include "engine/base/error.h"

namespace warpath {

ProposalContext GraphWalk::context(NodeId node) const {
  const RecordedGraph::Node& at = graph_.node(row(node));
  ProposalContext out{.at = {graph_.spec(), at.variant, graph_.facts()},
                      .node_key = at.key,
                      .outcome = &at.outcome,
                      .seed = 0,
                      .baseline = &graph_.node(0).outcome};
  for (const Visited* step = &nodes_[index(node)]; step->parent != kNoNode;
       step = &nodes_[index(step->parent)])
    out.path.push_back(&made(*step).instance);
  std::ranges::reverse(out.path);
  return out;
}

std::vector<Proposal> GraphWalk::proposals(NodeId node) const {
  std::vector<Proposal> out;
  for (const RecordedGraph::Action& action : graph_.node(row(node)).actions) {
    out.push_back({.instance = action.instance,
                   .weight = action.weight,
                   .source = action.source,
                   .variant = std::nullopt,
                   .why = ""});
  }
  return out;
}

void GraphWalk::open(NodeId node, std::vector<float>& priors) {
  const std::vector<Proposal> proposals = this->proposals(node);
  priors.assign(proposals.size(),
                proposals.empty() ? 0.0F : 1.0F / static_cast<float>(proposals.size()));
  if (steps_.prior == nullptr || proposals.empty()) return;
  std::vector<double> weighed(proposals.size());
  steps_.prior->evaluate(context(node), proposals, weighed);
  const double sum = std::accumulate(weighed.begin(), weighed.end(), 0.0);
  if (!(sum > 0)) return;
  for (std::size_t i = 0; i < priors.size(); ++i) priors[i] = static_cast<float>(weighed[i] / sum);
}

std::optional<Hash128> GraphWalk::apply(NodeId node, std::uint32_t action) {
  const RecordedGraph::Action& step = graph_.node(row(node)).actions[action];
  if (steps_.without.contains(step.instance.move)) return std::nullopt;
  return graph_.node(step.target).key;
}

void GraphWalk::create(NodeId child, NodeId parent, const Step& step, const Hash128&) {
  WARPATH_CHECK(index(child) == nodes_.size());
  nodes_.push_back({.row = graph_.node(row(parent)).actions[step.action].target,
                    .parent = parent,
                    .action = step.action});
}

void GraphWalk::dispatched(const Dispatch& dispatch) {
  if (learns())
    nodes_[index(dispatch.node)].shares =
        steps_.prior->shares(context(dispatch.parent), proposals(dispatch.parent), dispatch.action);
}

void GraphWalk::landed(NodeId id, bool ok, double reward) {
  Visited& node = nodes_[index(id)];
  node.reward = reward;
  if (!learns()) return;
  const SourceShares shares = std::exchange(node.shares, {});
  const RecordedGraph::Action& action = made(node);
  const ProposalContext context = this->context(node.parent);
  steps_.prior->observe({.context = context,
                         .instance = action.instance,
                         .source = action.source,
                         .shares = shares,
                         .ok = ok,
                         .log_gain = ok ? reward - nodes_[index(node.parent)].reward : 0});
}

}  // namespace warpath
