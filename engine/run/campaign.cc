#include "engine/run/campaign.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/late_proposer.h"
#include "engine/plugin/variant_io.h"

namespace warpath {
namespace {

/// Of an ok outcome: its largest lower time bound over its time, first workload; 0: unknown.
double bound_share(const Outcome& outcome) {
  if (!outcome.diagnosis || outcome.timings.empty()) return 0;
  double bound_ns = 0;
  for (const auto& [resource, bound] : outcome.diagnosis->time_bound_ns)
    bound_ns = std::max(bound_ns, bound.value);
  const double ns = typical_ns(outcome, outcome.timings.front().workload);
  return ns > 0 ? bound_ns / ns : 0;
}

}  // namespace

Campaign::Campaign(VariantSpace& space,
                   const KernelSpec& spec,
                   const DeviceFacts& device,
                   const Options& options)
    : space_(space),
      options_(options),
      objective_(spec, device, options.run.min_speedup),
      tuner_(options.tune) {}

std::string Campaign::apply(const BaselineEvent& event) {
  seconds_ = event.seconds;
  baseline_problem_ = objective_.set_baseline(event.outcome);
  if (!baseline_problem_.empty()) return baseline_problem_;
  space_.set_outcome(NodeId{0}, event.outcome);
  baseline_reward_ = objective_.reward(event.outcome);
  device_seconds_ += event.outcome.run_seconds;
  best_bound_share_ = bound_share(event.outcome);
  static_cast<void>(twin(kRoot, event.outcome));
  finals_.emplace(objective_, options_.run);
  search_.emplace(space_, options_, options_.run.seed, event.key);
  return "";
}

/// The next evaluation of inner tuning. Skips candidates that prove illegal or known; they would
/// prove so again.
std::optional<Dispatch> Campaign::tune() {
  if (!search_->takes_grafts()) return std::nullopt;
  while (const auto wanted = tuner_.next(best_reward_)) {
    const auto prior = [&] {
      const EdgeId sibling = search_->graph().find_edge(wanted->parent, wanted->sibling);
      return sibling == kNoEdge ? 0 : search_->graph()[sibling].prior.value();
    };
    if (auto dispatch = space_.graft(*search_, wanted->parent,
                                     {.instance = wanted->instance,
                                      .source = std::string(kTuningSource),
                                      .variant = std::nullopt,
                                      .why = ""},
                                     prior))
      return dispatch;
  }
  return std::nullopt;
}

/// Only nodes made by structural moves are tuned.
bool Campaign::tunes(NodeId node) const {
  return options_.tune.builds > 0 && search_->takes_grafts() && space_.structural(node);
}

/// A dispatch, live or from a log.
void Campaign::pend(Pending pending) {
  if (tunes(pending.node))
    tuner_.dispatched(pending.parent, pending.node, space_.instance(pending.node),
                      space_.source(pending.node) == kTuningSource);
  pending_.push_back(std::move(pending));
  ++dispatched_;
}

void Campaign::apply(const ArrivalEvent& event, const std::string& place) {
  NodeId parent{0};
  while (index(parent) < space_.size() && space_.key(parent) != event.key)
    parent = NodeId{index(parent) + 1};
  if (index(parent) == space_.size())
    throw bad_input(place, "arrival at " + event.key.hex(), "the key of a node before it");
  const auto first_after =
      std::ranges::find_if(late_, [&](const Late& l) { return event.share >= 1 && l.share < 1; });
  std::vector<Late> arrived;
  for (const Proposal& p : event.proposals)
    arrived.push_back({.parent = parent, .share = event.share, .proposal = p});
  late_.insert(first_after, std::make_move_iterator(arrived.begin()),
               std::make_move_iterator(arrived.end()));
  event.more ? static_cast<void>(heard_.erase({event.key, event.proposer}))
             : static_cast<void>(heard_.emplace(event.key, event.proposer));
  if (!event.proposals.empty()) asked_in_vain_ = false;
}

bool Campaign::has_heard(const Hash128& key, std::string_view proposer) const {
  return heard_.contains({key, std::string(proposer)});
}

/// Drops proposals that prove illegal or known; they would prove so again.
std::optional<Dispatch> Campaign::late(const std::function<bool(double)>& may_go) {
  for (auto it = late_.begin(); it != late_.end();) {
    const NodeState state = search_->graph()[it->parent].state;
    if (state == NodeState::pending || !may_go(it->share)) {
      ++it;
      continue;
    }
    const Late late = std::move(*it);
    it = late_.erase(it);
    if (state == NodeState::failed) continue;
    // On the scale of its siblings' priors, and at most the largest of them, however confident its
    // proposer is.
    const auto prior = [&] {
      return static_cast<float>(std::clamp(late.proposal.weight, 0.0, 1.0)) *
             space_.largest_prior(late.parent);
    };
    if (auto dispatch = space_.graft(*search_, late.parent, late.proposal, prior)) {
      ++late_dispatched_;
      return dispatch;
    }
  }
  return std::nullopt;
}

const Campaign::Pending* Campaign::select_first() {
  const auto dispatch = late([](double share) { return share >= 1; });
  return dispatch ? &dispatched(*dispatch) : nullptr;
}

const Campaign::Pending* Campaign::select() {
  std::optional<Dispatch> dispatch;
  if (!late_.empty()) {
    dispatch = late([&](double share) {
      return static_cast<double>(late_dispatched_ + 1) <=
             share * static_cast<double>(dispatched_ + 1);
    });
  }
  if (!dispatch && !search_->surveys() && tuner_.may_go_first(dispatched_)) dispatch = tune();
  if (!dispatch) dispatch = search_->next();
  if (!dispatch) dispatch = tune();
  if (!dispatch) dispatch = late([](double) { return true; });
  asked_in_vain_ = !dispatch;
  return dispatch ? &dispatched(*dispatch) : nullptr;
}

const Campaign::Pending& Campaign::dispatched(const Dispatch& dispatch) {
  pend({.sequence = dispatch.sequence,
        .node = dispatch.node,
        .parent = dispatch.parent,
        .incumbent_ns = objective_.baseline_ns() * std::exp(-best_reward_),
        .shares = space_.shares(dispatch.parent, dispatch.action)});
  return pending_.back();
}

DispatchEvent Campaign::event_of(const Pending& chosen) const {
  DispatchEvent event{
      .sequence = chosen.sequence,
      .node = chosen.node,
      .parent = chosen.parent,
      .key = space_.key(chosen.node),
      .instance = space_.instance(chosen.node),
      .source = std::string(space_.source(chosen.node)),
      .path = {NodeId{0}},
      .change = patch_between(space_.variant(chosen.parent), space_.variant(chosen.node)),
      .incumbent_ns = chosen.incumbent_ns,
      .shares = chosen.shares};
  for (const EdgeId edge : search_->path_of(chosen.sequence))
    event.path.push_back(search_->graph()[edge].target);
  return event;
}

/// What an outcome teaches inner tuning.
void Campaign::tune_by(NodeId node, bool ok, double reward) {
  if (!tunes(node)) return;
  const NodeId parent = space_.parent(node);
  const MoveInstance instance = space_.instance(node);
  tuner_.measured({.parent = parent,
                   .node = node,
                   .instance = instance,
                   .ok = ok,
                   .reward = reward,
                   .best_reward = best_reward_,
                   .structural = true},
                  [&] {
                    // written out: no move can vary it
                    if (instance.parameters.contains(kTextParameter)) return std::vector<Tunable>{};
                    return space_.domain(parent, instance);
                  });
}

/// Where the best has been the best for some time, what polishes it waits for its share of the
/// evaluations.
void Campaign::polish() {
  if (options_.tune.polish_share <= 0 || !search_->takes_grafts()) return;
  for (MoveInstance& instance : space_.polishing(best_)) {
    late_.push_back({.parent = best_,
                     .share = options_.tune.polish_share,
                     .proposal = {.instance = std::move(instance),
                                  .source = std::string(kPolishSource),
                                  .variant = std::nullopt,
                                  .why = ""}});
  }
}

Campaign::Applied Campaign::apply(const OutcomeEvent& event, const std::string& place) {
  const auto it = std::ranges::find(pending_, event.sequence, &Pending::sequence);
  if (it == pending_.end())
    throw bad_input(place, "outcome " + std::to_string(event.sequence),
                    "the outcome of a dispatch in flight");
  Applied applied{.node = it->node};
  const SourceShares shares = std::move(it->shares);
  pending_.erase(it);
  seconds_ = event.seconds;
  asked_in_vain_ = false;
  ++evaluations_;
  device_seconds_ += event.outcome.run_seconds;
  evaluated_.push_back(applied.node);
  ++since_improvement_;
  ++by_status_[static_cast<std::size_t>(event.outcome.status)];
  space_.set_outcome(applied.node, event.outcome);
  const bool ok = event.outcome.status == Status::ok;
  const double reward = ok ? objective_.reward(event.outcome) : 0;
  if (!std::isfinite(reward))
    throw bad_input(place, "an ok outcome", "a time for every scored workload");
  Finals::Nominee nominee{
      .reward = reward,
      .standard_error = reward > 0 ? objective_.standard_error(event.outcome) : 0,
      .moves = {},
      .binary_key = event.outcome.binary_key};
  for (NodeId at = applied.node; reward > 0 && at != NodeId{0}; at = space_.parent(at))
    nominee.moves.emplace(space_.move(at));
  finals_->enter(applied.node, nominee, event.seconds);
  if (const auto before = reward_of(space_.parent(applied.node)))
    space_.learn(applied.node, shares, ok, ok ? reward - *before : 0);
  tune_by(applied.node, ok, reward);
  if (ok) rank(event.outcome, reward, applied);
  search_->complete(event.sequence,
                    {.ok = ok, .reward = reward, .twin = twin(applied.node, event.outcome)});
  if (since_improvement_ == static_cast<std::uint64_t>(options_.tune.polish_after)) polish();
  return applied;
}

/// An ok outcome of `applied.node`.
void Campaign::rank(const Outcome& outcome, double reward, Applied& applied) {
  applied.speedup = std::exp(reward);
  applied.improved = reward > best_reward_;
  if (applied.improved) since_improvement_ = 0;
  if (applied.improved || (reward == best_reward_ && index(applied.node) < index(best_))) {
    best_ = applied.node;
    best_reward_ = reward;
    best_bound_share_ = bound_share(outcome);
  }
}

NodeId Campaign::twin(NodeId node, const Outcome& outcome) {
  if (outcome.status != Status::ok || outcome.binary_key.empty()) return kNoNode;
  const KeyTable::Inserted code = codes_.insert(hash128(outcome.binary_key));
  if (code.created) first_of_code_.push_back(node);
  const NodeId first = first_of_code_[code.number];
  return first == node ? kNoNode : first;
}

template <class E>
Finals::Applied Campaign::apply_final(const E& event, const std::string& place) {
  if (index(event.node) >= space_.size() || space_.key(event.node) != event.key) {
    throw bad_input(place, "final of " + event.key.short_hex(),
                    "the key of node " + std::to_string(index(event.node)));
  }
  Finals::Applied applied = finals_->apply(event, place);
  seconds_ = event.seconds;
  return applied;
}

Finals::Applied Campaign::apply(const FinalEvent& event, const std::string& place) {
  return apply_final(event, place);
}

Finals::Applied Campaign::apply(const HeatEvent& event, const std::string& place) {
  return apply_final(event, place);
}

void Campaign::Late::keep(StrategyState& state) {
  std::string text = state.reads() ? "" : to_json(proposal).dump();
  state(parent, share, text);
  if (state.reads()) proposal = proposal_from_json(parse_json(text, "late"), "late");
}

void Campaign::keep(StrategyState& state) {
  keep_own(state);
  search_->keep(state);
}

void Campaign::keep_own(StrategyState& state) {
  state(tuner_, *finals_, pending_, late_, evaluated_, codes_, first_of_code_, heard_);
  state(late_dispatched_, dispatched_, evaluations_, since_improvement_, by_status_, best_);
  state(best_reward_, best_bound_share_, seconds_, device_seconds_, asked_in_vain_);
}

void Campaign::adopt(Snapshot snapshot, const std::string& place) {
  const std::shared_ptr<const Outcome> baseline = space_.outcome(NodeId{0});
  if (baseline == nullptr || !objective_.set_baseline(*baseline).empty())
    throw bad_input(place, "", "a baseline that is ok");
  baseline_reward_ = objective_.reward(*baseline);
  finals_.emplace(objective_, options_.run);
  keep_own(snapshot.kept);
  links_ = std::move(snapshot.links);
  const bool same = snapshot.graph.node_count() == space_.size() &&
                    snapshot.state.next_sequence == dispatched_ &&
                    first_of_code_.size() == codes_.size() &&
                    std::ranges::equal(
                        snapshot.state.pending, pending_, {},
                        [](const auto& p) { return p.dispatch.sequence; }, &Pending::sequence);
  if (!same) throw bad_input(place, "", "parts of one campaign");
  links_seen_ = snapshot.graph.edge_count();
  search_.emplace(space_, options_, options_.run.seed, std::move(snapshot.graph),
                  std::move(snapshot.state), place);
  search_->keep(snapshot.kept);
  snapshot.kept.require_end();
}

EdgeTexts& Campaign::links() {
  const Graph& graph = search_->graph();
  for (; links_seen_ < graph.edge_count(); ++links_seen_) {
    const EdgeId id{links_seen_};
    const Edge edge = graph[id];
    if (graph[edge.target].first_in != id)
      links_.add(id, space_.action(edge.source, edge.action).text());
  }
  return links_;
}

void Campaign::begin_session() {
  if (finals_) finals_->begin_session();
}

std::uint64_t Campaign::input_seed(std::uint64_t sequence) const {
  return Rng(options_.run.seed, "inputs", sequence).next();
}

std::uint64_t Campaign::final_seed(const Finals::Due& due) const {
  const std::string purpose =
      due.stage == Stage::final ? "finals" : "heats " + std::to_string(due.reading);
  return Rng(options_.run.seed, purpose, index(due.node)).next();
}

Campaign::Standing Campaign::standing() const {
  const auto verdict_of = [this](NodeId node) -> std::shared_ptr<const Verdict> {
    const std::shared_ptr<const Outcome> outcome = space_.outcome(node);
    if (outcome == nullptr) return nullptr;
    return {outcome, &outcome->verdict};
  };
  Standing out{.node = best_,
               .speedup = best_speedup(),
               .baseline_ms = baseline_ms(),
               .verdict = verdict_of(best_),
               .finalists = 0};
  if (const auto winner = finals_->winner(finals_kept_)) {
    out.node = winner->node;
    out.speedup = winner->speedup;
    out.baseline_ms = winner->baseline_ns * 1e-6;
    if (winner->verdict != nullptr) {
      out.verdict = std::make_shared<const Verdict>(*winner->verdict);
    } else {
      out.verdict = verdict_of(winner->node);
    }
    out.finalists = winner->finalists;
    out.measured = winner->measured;
  }
  return out;
}

std::optional<Interval> Campaign::interval_of(const Standing& standing) const {
  constexpr double kConfidence = 0.99;
  constexpr int kDraws = 1000;
  if (standing.node == NodeId{0}) return std::nullopt;
  const Finals::Final* const timed_again =
      standing.finalists > 0 ? finals_->find(standing.node) : nullptr;
  const std::shared_ptr<const Outcome> searched = space_.outcome(standing.node);
  const Outcome& outcome = timed_again != nullptr ? timed_again->outcome : *searched;
  if (!objective_.is_paired(outcome)) return std::nullopt;
  return speedup_interval(objective_, *space_.outcome(NodeId{0}), outcome, kConfidence, kDraws,
                          space_.key(standing.node).low);
}

Progress Campaign::progress(double seconds) const {
  return {.evaluations = evaluations_,
          .since_improvement = since_improvement_,
          .seconds = seconds,
          .device_seconds = device_seconds_,
          .best_reward = best_reward_,
          .bound_share = best_bound_share_};
}

double Campaign::best_speedup() const {
  return std::exp(best_reward_);
}

std::optional<double> Campaign::reward_of(NodeId node) const {
  if (node == kRoot) return baseline_reward_;
  const Graph& graph = search_->graph();
  return graph.state(node) == NodeState::measured ? std::optional(graph.reward(node))
                                                  : std::nullopt;
}

double Campaign::speedup(NodeId node) const {
  const std::optional<double> reward = begun() ? reward_of(node) : std::nullopt;
  return reward ? std::exp(*reward) : 0;
}

}  // namespace warpath
