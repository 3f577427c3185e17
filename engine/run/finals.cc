#include "engine/run/finals.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/base/error.h"
#include "engine/base/gumbel.h"
#include "engine/json/json_reader.h"
#include "engine/plugin/outcome_io.h"

namespace warpath {

namespace {

constexpr double kLeastSeconds = 20;
constexpr double kShareOfSearch = 0.25;
constexpr double kBaselineLaunches = 60;
/// Finalists side by side take longer than one alone.
constexpr double kCaution = 1.25;

}  // namespace

void Finals::enter(NodeId node, const Nominee& nominee, double seconds) {
  baseline_timed_ = false;
  search_seconds_ += std::max(0.0, seconds - last_seconds_);
  last_seconds_ = seconds;
  if (nominee.reward <= 0) return;
  const auto place = static_cast<Place>(candidates_.size());
  if (options_.final_candidates > options_.finalists) {
    Rng rng(options_.seed, "nominations", index(node));
    set_value(nominations_, place, nominee.reward + nominee.standard_error * gumbel(rng));
  }
  MoveSet moves;
  for (const std::string& move : nominee.moves)
    moves.push_back(
        move_numbers_.try_emplace(move, static_cast<std::uint16_t>(move_numbers_.size()))
            .first->second);
  std::ranges::sort(moves);
  const auto [set, is_new] =
      move_set_numbers_.try_emplace(moves, static_cast<std::uint32_t>(move_sets_.size()));
  if (is_new) move_sets_.push_back(std::move(moves));
  if (!nominee.binary_key.empty()) set_value(codes_, place, hash128(nominee.binary_key));
  candidates_.push_back({.reward = nominee.reward, .node = node, .moves = set->second});
}

const std::vector<Finals::Place>& Finals::ranking() const {
  if (ranking_.size() != candidates_.size()) {
    ranking_.resize(candidates_.size());
    std::iota(ranking_.begin(), ranking_.end(), 0);
    std::ranges::sort(ranking_, {}, [&](Place place) {
      return std::pair(-candidates_[place].reward, candidates_[place].node);
    });
  }
  return ranking_;
}

std::optional<Finals::Place> Finals::find_candidate(NodeId node) const {
  for (Place place = 0; place < candidates_.size(); ++place) {
    if (candidates_[place].node == node) return place;
  }
  return std::nullopt;
}

void Finals::begin_session() {
  spent_seconds_ = 0;
  std::erase_if(finals_, [](const auto& entry) {
    return entry.second.outcome.status == Status::not_measured;
  });
}

void Finals::spend(double seconds) {
  spent_seconds_ += std::max(0.0, seconds - last_seconds_);
  last_seconds_ = seconds;
}

/// A finalist's outcome has come.
void Finals::learn(double seconds, double run_seconds) {
  const double took = std::max(0.0, seconds - last_seconds_);
  // Of evaluations begun together, only the first to be applied shows how long the others around it
  // make it wait.
  if (finals_.empty()) longest_rest_ = std::max(longest_rest_, took - run_seconds);
  longest_run_ = std::max(longest_run_, std::max(0.0, run_seconds));
  spend(seconds);
}

double Finals::usual_allowance() const {
  return std::max({kLeastSeconds, kShareOfSearch * search_seconds_,
                   kBaselineLaunches * 1e-9 * search_objective_.baseline_ns()});
}

double Finals::allowance() const {
  const bool passed = std::ranges::any_of(
      finals_, [](const auto& entry) { return entry.second.outcome.status == Status::ok; });
  return passed ? usual_allowance() : 2 * usual_allowance();
}

double Finals::seconds_left() const {
  return std::max(0.0, usual_allowance() - spent_seconds_);
}

std::size_t Finals::room() const {
  if (finals_.empty()) return 1;
  const double left = allowance() - spent_seconds_;
  if (left < longest_run_ + longest_rest_) return 0;
  if (longest_run_ <= 0) return static_cast<std::size_t>(-1);
  const double several = (left / kCaution - longest_rest_) / longest_run_;
  return static_cast<std::size_t>(std::clamp(several, 1.0, 1e6));
}

int Finals::left_out() const {
  return options_.finalists == 0 || room() > 0 ? 0 : static_cast<int>(wanted().size());
}

std::vector<Finals::Dismissed> Finals::dismissed() const {
  std::vector<Dismissed> out;
  for (const Place place : ranking()) {
    const NodeId node = candidates_[place].node;
    const Final* const final = find(node);
    if (final != nullptr && final->outcome.status != Status::ok)
      out.push_back({.node = node, .outcome = &final->outcome});
  }
  return out;
}

/// See the class; stable if nothing was refused.
std::vector<Finals::Place> Finals::by_doubt(const std::vector<Place>& places) const {
  std::set<std::uint16_t> cleared;
  std::vector<const MoveSet*> refused;
  const auto moves_of = [&](NodeId node) -> const MoveSet& {
    return move_sets_[candidates_[find_candidate(node).value()].moves];
  };
  for (const auto& [node, final] : finals_) {
    const MoveSet& moves = moves_of(node);
    if (final.outcome.status == Status::ok) cleared.insert(moves.begin(), moves.end());
    if (is_refusal(final.outcome.status)) refused.push_back(&moves);
  }
  for (const auto& [node, readings] : readings_) {
    if (readings.refused) refused.push_back(&moves_of(node));
  }
  const auto doubt = [&](const MoveSet& moves) {
    int worst = 0;
    for (const MoveSet* const other : refused) {
      std::size_t suspects = 0, shared = 0;
      for (const std::uint16_t move : *other) {
        if (cleared.contains(move)) continue;
        ++suspects;
        if (std::ranges::binary_search(moves, move)) ++shared;
      }
      if (suspects > 0)
        worst = std::max(worst, shared == suspects ? 2 : 2 * shared > suspects ? 1 : 0);
    }
    return worst;
  };
  std::vector<Place> classes[3];
  for (const Place place : places) {
    const Candidate& one = candidates_[place];
    classes[find(one.node) != nullptr ? 0 : doubt(move_sets_[one.moves])].push_back(place);
  }
  for (const auto& one : {classes[1], classes[2]})
    classes[0].insert(classes[0].end(), one.begin(), one.end());
  return classes[0];
}

Finals::Order Finals::order() const {
  Order out;
  std::set<Place> taken;
  if (options_.final_candidates > options_.finalists) {
    std::vector<Place> first(candidates_.size());
    std::iota(first.begin(), first.end(), 0);
    const auto middle =
        first.begin() + std::min(std::ssize(first), std::ptrdiff_t{options_.final_candidates});
    std::ranges::partial_sort(first, middle, {}, [&](Place place) {
      return std::pair(-nomination(place), candidates_[place].node);
    });
    first.erase(middle, first.end());
    std::vector<NodeId> nodes;
    std::map<NodeId, Place> place_of;
    for (const Place place : first) {
      nodes.push_back(candidates_[place].node);
      place_of[nodes.back()] = place;
    }
    Bracket bracket =
        sequential_halving(nodes, static_cast<std::size_t>(options_.finalists), readings_);
    for (const NodeId node : bracket.order) out.places.push_back(place_of.at(node));
    out.heats = std::move(bracket.due);
    taken.insert(first.begin(), first.end());
  }
  for (const Place place : ranking()) {
    const auto read = readings_.find(candidates_[place].node);
    if (!taken.contains(place) && (read == readings_.end() || !read->second.refused))
      out.places.push_back(place);
  }
  return out;
}

std::vector<Finals::Due> Finals::due() const {
  if (options_.finalists == 0) return {};
  std::vector<Due> out = room() > 0 ? wanted() : std::vector<Due>();
  if (!out.empty() && !baseline_timed_) return {{.node = NodeId{0}}};
  return out;
}

std::vector<Finals::Due> Finals::wanted() const {
  const Order order = this->order();
  std::vector<Due> out;
  for (const NodeId node : order.heats) {
    const auto read = readings_.find(node);
    out.push_back({.node = node,
                   .stage = Stage::confirmation,
                   .reading = read == readings_.end() ? 0 : read->second.rewards.size()});
  }
  if (!order.heats.empty()) return out;
  std::size_t taken = 0;
  std::set<Hash128> codes;
  for (const auto& [node, unused] : finals_) codes.insert(code(find_candidate(node).value()));
  for (const Place place : by_doubt(order.places)) {
    if (taken >= static_cast<std::size_t>(options_.finalists)) break;
    const Candidate& one = candidates_[place];
    const Final* const known = find(one.node);
    const Hash128 code = this->code(place);
    if (known == nullptr && code != Hash128{} && !codes.insert(code).second) continue;
    if (known == nullptr) out.push_back({.node = one.node});
    if (known == nullptr || !is_refusal(known->outcome.status)) ++taken;
  }
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
    spend(event.seconds);
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
  const bool ok = event.outcome.status == Status::ok;
  const double baseline_ns = ok ? objective_.baseline_ns(event.outcome) : objective_.baseline_ns();
  learn(event.seconds, event.outcome.run_seconds);
  finals_.emplace(event.node,
                  Final{.outcome = event.outcome, .reward = reward, .baseline_ns = baseline_ns});
  return {.speedup = ok ? std::exp(reward) : 0, .problem = ""};
}

Finals::Applied Finals::apply(const HeatEvent& event, const std::string& place) {
  const auto known = readings_.find(event.node);
  const bool next = known == readings_.end()
                        ? event.reading == 0
                        : !known->second.refused && event.reading == known->second.rewards.size();
  require_ranked(event.node, event.key, next, place);
  const double reward = reward_of(event.outcome, place);
  spend(event.seconds);
  const bool ok = event.outcome.status == Status::ok;
  Readings& readings = readings_[event.node];
  if (ok) readings.rewards.push_back(reward);
  readings.refused = is_refusal(event.outcome.status);
  // no better than the baseline, as far as is known
  if (event.outcome.status == Status::not_measured) readings.rewards.push_back(0);
  return {.speedup = ok ? std::exp(reward) : 0, .problem = ""};
}

double Finals::reward_of(const Outcome& outcome, const std::string& place) const {
  const double reward = outcome.status == Status::ok ? objective_.reward(outcome) : 0;
  if (!std::isfinite(reward))
    throw bad_input(place, "an ok outcome", "a time for every scored workload");
  return reward;
}

void Finals::require_ranked(NodeId node,
                            const Hash128& key,
                            bool fresh,
                            const std::string& place) const {
  if (!find_candidate(node) || !fresh)
    throw bad_input(place, "final of " + key.short_hex(),
                    "a variant that beat the baseline and has no such outcome yet");
}

std::optional<Finals::Winner> Finals::winner(bool so_far) const {
  if (options_.finalists == 0 || (finals_.empty() && readings_.empty()) ||
      (!so_far && !due().empty()))
    return std::nullopt;
  Winner winner{.baseline_ns = objective_.baseline_ns(),
                .verdict = baseline_ ? &baseline_->verdict : nullptr};
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
  winner.measured =
      winner.node != NodeId{0} || std::ranges::none_of(finals_, [](const auto& entry) {
        return entry.second.outcome.status == Status::not_measured;
      });
  return winner;
}

namespace {

void keep_outcome(StrategyState& state, Outcome& outcome) {
  std::string text = state.reads() ? "" : to_json(outcome).dump();
  state(text);
  if (state.reads()) outcome = outcome_from_json(parse_json(text, "finals"), "finals");
}

}  // namespace

void Finals::Final::keep(StrategyState& state) {
  keep_outcome(state, outcome);
  state(reward, baseline_ns);
}

void Finals::keep_candidates(StrategyState& state) {
  const std::size_t count = state.size(candidates_.size());
  if (state.reads()) candidates_ = {}, nominations_ = {}, codes_ = {};
  for (Place place = 0; place < count; ++place) {
    Candidate one = state.reads() ? Candidate() : candidates_[place];
    double nomination = this->nomination(place);
    Hash128 code = this->code(place);
    state(one.reward, nomination, one.node, one.moves, code);
    if (!state.reads()) continue;
    candidates_.push_back(one);
    set_value(nominations_, place, nomination);
    set_value(codes_, place, code);
  }
}

void Finals::keep(StrategyState& state) {
  keep_candidates(state);
  state(move_numbers_, move_sets_, last_seconds_, search_seconds_, spent_seconds_);
  state(longest_run_, longest_rest_, readings_, finals_, baseline_timed_);
  for (std::size_t number = 0; state.reads() && number < move_sets_.size(); ++number)
    move_set_numbers_.emplace(move_sets_[number], static_cast<std::uint32_t>(number));
  bool timed = baseline_.has_value();
  state(timed);
  if (!timed) return;
  if (!baseline_) baseline_.emplace();
  keep_outcome(state, *baseline_);
  objective_ = search_objective_;
  static_cast<void>(objective_.set_baseline(*baseline_));
}

}  // namespace warpath
