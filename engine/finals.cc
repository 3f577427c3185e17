#include "engine/finals.h"

#include <algorithm>
#include <cmath>

#include "engine/error.h"

namespace warpath {

void Finals::enter(NodeId node, double reward) {
  baseline_timed_ = false;
  if (reward > 0) ranking_.emplace(-reward, node);
}

std::vector<NodeId> Finals::due() const {
  std::vector<NodeId> out;
  std::size_t taken = 0;
  for (const auto& [unused, node] : ranking_) {
    if (taken >= static_cast<std::size_t>(count_)) break;
    const Final* const known = find(node);
    if (known == nullptr) out.push_back(node);
    if (known == nullptr || known->outcome.status == Status::ok) ++taken;
  }
  if (!out.empty() && !baseline_timed_) return {NodeId{0}};
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
  const bool ranked = std::ranges::any_of(ranking_, [&](const auto& entry) { return entry.second == event.node; });
  if (!ranked || finals_.contains(event.node)) {
    throw bad_input(place, "final of " + event.key.short_hex(), "a variant that beat the baseline and has no final outcome yet");
  }
  const bool ok = event.outcome.status == Status::ok;
  const double reward = ok ? objective_.reward(event.outcome) : 0;
  if (!std::isfinite(reward)) throw bad_input(place, "an ok outcome", "a time for every scored workload");
  finals_.emplace(event.node, Final{.outcome = event.outcome, .reward = reward, .baseline_ns = objective_.baseline_ns()});
  return {.speedup = ok ? std::exp(reward) : 0, .problem = ""};
}

std::optional<Finals::Winner> Finals::winner() const {
  if (count_ == 0 || finals_.empty() || !due().empty()) return std::nullopt;
  Winner winner{.baseline_ns = objective_.baseline_ns(), .verdict = baseline_ ? &baseline_->verdict : nullptr};
  winner.finalists = static_cast<int>(finals_.size());
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
