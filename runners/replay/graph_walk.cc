#include "runners/replay/graph_walk.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>

#include "engine/base/error.h"
#include "engine/search/tuner.h"

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
  out.drafts = [this, node](std::span<const Proposal* const> proposals) {
    const std::vector<RecordedGraph::Action>& actions = graph_.node(row(node)).actions;
    std::vector<std::shared_ptr<const Diagnosis>> drafts;
    for (const Proposal* const p : proposals) {
      const auto known = std::ranges::find(actions, p->instance, &RecordedGraph::Action::instance);
      drafts.push_back(known == actions.end() ? nullptr : graph_.draft(known->target));
    }
    return drafts;
  };
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

std::vector<Proposal> GraphWalk::late_proposals(NodeId node) const {
  std::vector<Proposal> out = proposals(node);
  std::erase_if(out, [&](const Proposal& p) { return !steps_.late.contains(p.instance.move); });
  return out;
}

void GraphWalk::open(NodeId node, std::vector<float>& priors) {
  if (!steps_.late.empty()) opened_.push_back(node);
  weigh(node, priors);
}

void GraphWalk::weigh(NodeId node, std::vector<float>& priors) const {
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
  if (steps_.without.contains(step.instance.move) || steps_.late.contains(step.instance.move))
    return std::nullopt;
  return graph_.node(step.target).key;
}

void GraphWalk::create(NodeId child, NodeId parent, const Step& step, const Hash128&) {
  WARPATH_CHECK(index(child) == nodes_.size());
  const RecordedGraph::Action& made = graph_.node(row(parent)).actions[step.action];
  nodes_.push_back(
      {.row = made.target, .parent = parent, .action = step.action, .source = made.source});
}

MoveInstance GraphWalk::instance(NodeId node) const {
  return node == NodeId{0} ? MoveInstance{} : made(nodes_[index(node)]).instance;
}

std::string_view GraphWalk::move(NodeId node) const {
  return node == NodeId{0} ? std::string_view() : made(nodes_[index(node)]).instance.move;
}

bool GraphWalk::structural(NodeId node) const {
  return steps_.structural.contains(move(node));
}

std::vector<Tunable> GraphWalk::domain(NodeId parent, const MoveInstance& instance) const {
  std::map<std::string, std::set<std::int64_t>> values;
  for (const RecordedGraph::Action& action : graph_.node(row(parent)).actions) {
    if (action.instance.move != instance.move || action.instance.site != instance.site) continue;
    for (const auto& [name, value] : action.instance.parameters) values[name].insert(value);
  }
  std::vector<Tunable> out;
  for (const auto& [name, known] : values)
    out.push_back({.name = name,
                   .values = {known.begin(), known.end()},
                   .default_value = *known.begin(),
                   .help = ""});
  return out;
}

std::optional<Dispatch> GraphWalk::graft(Search& search,
                                         NodeId parent,
                                         const Proposal& proposal,
                                         const std::function<float()>& prior) {
  const std::vector<RecordedGraph::Action>& actions = graph_.node(row(parent)).actions;
  const auto known =
      std::ranges::find(actions, proposal.instance, &RecordedGraph::Action::instance);
  if (known == actions.end() || steps_.without.contains(proposal.instance.move))
    return std::nullopt;
  const std::optional<Dispatch> dispatch =
      search.graft(parent, graph_.node(known->target).key, prior());
  if (!dispatch) return std::nullopt;
  WARPATH_CHECK(index(dispatch->node) == nodes_.size());
  nodes_.push_back({.row = known->target,
                    .parent = parent,
                    .action = static_cast<std::uint32_t>(known - actions.begin()),
                    .source = proposal.source == kTuningSource ? kTuningSource : known->source});
  return dispatch;
}

float GraphWalk::largest_prior(NodeId node) {
  std::vector<float> priors;
  weigh(node, priors);
  return priors.empty() ? 0 : std::ranges::max(priors);
}

SourceShares GraphWalk::shares(NodeId node, std::uint32_t action) {
  if (!learns() || action >= graph_.node(row(node)).actions.size()) return {};
  return steps_.prior->shares(context(node), proposals(node), action);
}

void GraphWalk::learn(NodeId id, const SourceShares& shares, bool ok, double log_gain) {
  if (!learns()) return;
  const ProposalContext context = this->context(parent(id));
  const std::string source(this->source(id));
  const RecordedGraph::Action& action = made(nodes_[index(id)]);
  steps_.prior->observe({.context = context,
                         .instance = action.instance,
                         .source = source,
                         .shares = shares,
                         .ok = ok,
                         .log_gain = log_gain});
}

}  // namespace warpath
