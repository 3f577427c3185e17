#include "engine/finals.h"

#include <algorithm>
#include <cmath>

#include "engine/error.h"
#include "engine/gumbel.h"

namespace warpath {

void Finals::enter(NodeId node, double reward, double standard_error) {
  baseline_timed_ = false;
  if (reward <= 0) return;
  ranking_.emplace(-reward, node);
  Rng rng(options_.seed, "nominations", index(node));
  nominated_.emplace(-(reward + standard_error * gumbel(rng)), node);
}

Finals::Order Finals::order() const {
  Order out;
  std::set<NodeId> taken;
  if (options_.final_candidates > options_.finalists) {
    std::vector<NodeId> candidates;
    for (const auto& [unused, node] : nominated_) {
      if (candidates.size() == static_cast<std::size_t>(options_.final_candidates)) break;
      candidates.push_back(node);
    }
    Bracket bracket = sequential_halving(candidates, static_cast<std::size_t>(options_.finalists), readings_);
    out = {.nodes = std::move(bracket.order), .heats = std::move(bracket.due)};
    taken.insert(candidates.begin(), candidates.end());
  }
  for (const auto& [unused, node] : ranking_) {
    const auto read = readings_.find(node);
    if (!taken.contains(node) && (read == readings_.end() || !read->second.refused)) out.nodes.push_back(node);
  }
  return out;
}

std::vector<Finals::Due> Finals::due() const {
  if (options_.finalists == 0) return {};
  const Order order = this->order();
  std::vector<Due> out;
  for (const NodeId node : order.heats) {
    const auto read = readings_.find(node);
    out.push_back({.node = node, .stage = Stage::confirmation, .reading = read == readings_.end() ? 0 : read->second.rewards.size()});
  }
  std::size_t taken = 0;
  for (const NodeId node : order.heats.empty() ? order.nodes : std::vector<NodeId>()) {
    if (taken >= static_cast<std::size_t>(options_.finalists)) break;
    const Final* const known = find(node);
    if (known == nullptr) out.push_back({.node = node});
    if (known == nullptr || known->outcome.status == Status::ok) ++taken;
  }
  if (!out.empty() && !baseline_timed_) return {{.node = NodeId{0}}};
  return out;
}

void Finals::judge(NodeId node, Outcome& outcome) const {
  if (node != NodeId{0}) objective_.judge(outcome);
}

const Finals::Final* Finals::find(NodeId node) const {
  const auto it = finals_.find(node);
  return it == finals_.end() ? nullptr : &it->second;
}

Finals::Applied Finals::apply(const FinalEvent& event, const std::string& place) {
  if (event.node == NodeId{0}) {
    objective_ = search_objective_;
    ObjectiveFunction anew = search_objective_;
    std::string problem = anew.set_baseline(event.outcome);
    baseline_.reset();
    if (problem.empty()) {
      objective_ = std::move(anew);
      baseline_ = event.outcome;
    }
    baseline_timed_ = true;
    return {.speedup = problem.empty() ? 1.0 : 0.0, .problem = std::move(problem)};
  }
  require_ranked(event.node, event.key, !finals_.contains(event.node), place);
  const double reward = reward_of(event.outcome, place);
  finals_.emplace(event.node, Final{.outcome = event.outcome, .reward = reward, .baseline_ns = objective_.baseline_ns()});
  return {.speedup = event.outcome.status == Status::ok ? std::exp(reward) : 0, .problem = ""};
}

Finals::Applied Finals::apply(const HeatEvent& event, const std::string& place) {
  const auto known = readings_.find(event.node);
  const bool next = known == readings_.end() ? event.reading == 0 : !known->second.refused && event.reading == known->second.rewards.size();
  require_ranked(event.node, event.key, next, place);
  const double reward = reward_of(event.outcome, place);
  const bool ok = event.outcome.status == Status::ok;
  Readings& readings = readings_[event.node];
  if (ok) readings.rewards.push_back(reward);
  readings.refused = !ok;
  return {.speedup = ok ? std::exp(reward) : 0, .problem = ""};
}

double Finals::reward_of(const Outcome& outcome, const std::string& place) const {
  const double reward = outcome.status == Status::ok ? objective_.reward(outcome) : 0;
  if (!std::isfinite(reward)) throw bad_input(place, "an ok outcome", "a time for every scored workload");
  return reward;
}

void Finals::require_ranked(NodeId node, const Hash128& key, bool fresh, const std::string& place) const {
  const bool ranked = std::ranges::any_of(ranking_, [&](const auto& entry) { return entry.second == node; });
  if (!ranked || !fresh) throw bad_input(place, "final of " + key.short_hex(), "a variant that beat the baseline and has no such outcome yet");
}

std::optional<Finals::Winner> Finals::winner() const {
  if (options_.finalists == 0 || (finals_.empty() && readings_.empty()) || !due().empty()) return std::nullopt;
  Winner winner{.baseline_ns = objective_.baseline_ns(), .verdict = baseline_ ? &baseline_->verdict : nullptr};
  std::set<NodeId> evaluated;
  for (const auto& [node, unused] : finals_) evaluated.insert(node);
  for (const auto& [node, readings] : readings_) {
    if (readings.refused) evaluated.insert(node);
  }
  winner.finalists = static_cast<int>(evaluated.size());
  double best = 0;
  for (const auto& [node, final] : finals_) {
    if (final.outcome.status != Status::ok || final.reward <= best) continue;
    best = final.reward;
    winner.node = node;
    winner.speedup = std::exp(final.reward);
    winner.baseline_ns = final.baseline_ns;
    winner.verdict = &final.outcome.verdict;
  }
  return winner;
}

}  // namespace warpath
