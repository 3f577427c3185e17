#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "engine/base/gumbel.h"
#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/strategy/history_options.h"
#include "engine/search/strategy/move_gains.h"
#include "register_strategies.h"

namespace warpath {
namespace {

/// Best-first search that tries the moves of a node in the order of what they gained elsewhere: the
/// history heuristic (Schaeffer 1989), or all moves as first (Gelly and Silver 2007). Next is the
/// move of greatest expected gain of the best node that has an untried one; of equal nodes the
/// newest, so that a move that changes nothing and makes another one possible is followed. The
/// first moves are the root's.
///
/// Where the best has nothing left, every other evaluation is a dive's: it descends from a node of
/// the way to the best by a softmax of gains, known ones of known children and expected ones of
/// untried moves, through losses, until it has found nothing better for a while. Formulas in
/// docs/search.md.
class History final : public Strategy {
 public:
  explicit History(const Options& options) : options_(options.of<HistoryOptions>()) {}

  NodeId next(Field& field) override {
    admit(field);
    if (dived_ < options_.history_dives * away_) {
      if (const NodeId node = dive(field); node != kNoNode) {
        ++dived_;
        return node;
      }
    }
    if (const NodeId node = climb(field); node != kNoNode) {
      if (trials_.at(index(node)).from != best_) ++away_;
      return node;
    }
    return field.lattice() == nullptr ? kNoNode : field.fresh_draw();
  }

  void complete(Field& field, NodeId node) override {
    const auto it = trials_.find(index(node));
    if (it == trials_.end()) return;
    const Trial trial = it->second;
    trials_.erase(it);
    if (field.measured(node)) gains_.add(trial.move, field.worth(node) - field.worth(trial.from));
  }

  [[nodiscard]] bool takes_grafts() const override { return true; }

 private:
  struct Trial {
    NodeId from = kNoNode;
    Candidate move;
  };
  /// The way of a dive so far.
  struct Dive {
    std::unordered_set<std::uint32_t> nodes;  // it returns to none
    NodeId at = kNoNode;                      // kNoNode: over
    NodeId pending = kNoNode;                 // where it goes on unless this fails
    double most = 0;                          // greatest reward
    int since = 0;                            // evaluations since that
  };

  /// A new node by best first.
  NodeId climb(Field& field) {
    while (!frontier_.empty()) {
      const bool at_root = root_trials_ < initial(field) && !untried(field, kRoot).empty();
      const NodeId from = at_root ? kRoot : frontier_.back();
      const std::vector<Candidate>& moves = untried(field, from);
      if (moves.empty()) {
        frontier_.pop_back();
        continue;
      }
      const auto chosen = std::ranges::max_element(moves, {}, [&](const Candidate& move) {
        return gains_.expected(move, options_.history_bonus);
      });
      const Field::Arrival arrival = take(field, from, chosen - moves.begin());
      if (!arrival.fresh) continue;
      if (from == kRoot) ++root_trials_;
      return arrival.node;
    }
    return kNoNode;
  }

  /// A new node by the dive under way or the next one; kNoNode if it waits for an outcome or there
  /// is none to be found.
  NodeId dive(Field& field) {
    constexpr int kSteps = 1000;   // through known nodes
    constexpr int kPatience = 20;  // evaluations
    for (int step = 0; step < kSteps; ++step) {
      if (dive_.pending != kNoNode) {
        if (field.graph()[dive_.pending].state == NodeState::pending) return kNoNode;
        enter(field, dive_.pending);
        dive_.pending = kNoNode;
      }
      if (dive_.at == kNoNode || dive_.since >= kPatience) begin_dive(field);
      const auto [known, untried_move] = choose_in_dive(field);
      if (known != kNoNode) {
        enter(field, known);
      } else if (untried_move < 0) {
        dive_.at = kNoNode;
      } else if (const Field::Arrival arrival = take(field, dive_.at, untried_move);
                 arrival.fresh) {
        ++dive_.since;
        dive_.pending = arrival.node;
        return arrival.node;
      }
    }
    return kNoNode;
  }

  void begin_dive(Field& field) {
    std::vector<NodeId> way{best_};
    while (way.back() != kRoot)
      way.push_back(field.graph()[field.graph()[way.back()].first_in].source);
    dive_ = {};
    enter(field, way[field.rng().below(way.size())]);
  }

  void enter(Field& field, NodeId node) {
    if (!field.measured(node)) return;
    if (dive_.at == kNoNode || field.worth(node) > dive_.most) {
      dive_.most = field.worth(node);
      dive_.since = 0;
    }
    dive_.at = node;
    dive_.nodes.insert(index(node));
  }

  struct Choice {
    NodeId known = kNoNode;       // a child, or
    std::ptrdiff_t untried = -1;  // place of a move among the untried; -1: none
  };
  /// Drawn in proportion to e^(gain / temperature), as the maximum with Gumbel noise.
  Choice choose_in_dive(Field& field) {
    const double temperature = options_.history_temperature * gains_.size();
    Choice out;
    double most = -std::numeric_limits<double>::infinity();
    const auto offer = [&](double gain, Choice choice) {
      const double noisy = gain + temperature * gumbel(field.rng());
      if (noisy <= most) return;
      most = noisy;
      out = choice;
    };
    const Graph& graph = field.graph();
    const std::vector<Candidate>& moves = untried(field, dive_.at);
    for (EdgeId edge = graph[dive_.at].first_out; edge != kNoEdge; edge = graph[edge].next_out) {
      const NodeId child = graph[edge].target;
      if (field.measured(child) && !dive_.nodes.contains(index(child)))
        offer(field.worth(child) - field.worth(dive_.at), {.known = child});
    }
    for (std::size_t i = 0; i < moves.size(); ++i)
      offer(gains_.expected(moves[i], 0), {.untried = static_cast<std::ptrdiff_t>(i)});
    return out;
  }

  /// Applies an untried move of `from`.
  Field::Arrival take(Field& field, NodeId from, std::ptrdiff_t place) {
    std::vector<Candidate>& moves = moves_.at(index(from));
    const Candidate move = moves[static_cast<std::size_t>(place)];
    moves.erase(moves.begin() + place);
    const Field::Arrival arrival = field.act(from, move.action);
    if (arrival.fresh) trials_.emplace(index(arrival.node), Trial{from, move});
    return arrival;
  }

  /// Moves of the root to begin with: more where its priors tell less.
  [[nodiscard]] double initial(Field& field) {
    if (initial_ >= 0) return initial_;
    double entropy = 0;
    const std::uint32_t count = field.actions(kRoot);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      const auto p = static_cast<double>(field.ranked(kRoot, rank).prior);
      if (p > 0) entropy -= p * std::log(p);
    }
    initial_ = options_.history_initial * std::exp(entropy / 2);
    return initial_;
  }

  /// Those of `node`, by P(s,a) descending; it is opened when they are first asked for.
  std::vector<Candidate>& untried(Field& field, NodeId node) {
    const auto [it, first] = moves_.try_emplace(index(node));
    if (!first) return it->second;
    const std::uint32_t count = field.actions(node);
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      const auto [action, prior] = field.ranked(node, rank);
      constexpr double kLeast = 1e-3;
      const double share = std::max(kLeast, static_cast<double>(prior) * count);
      it->second.push_back({action, std::log(share), field.label(node, action)});
    }
    return it->second;
  }

  /// Takes in everything measured since the last call, also what other parts of the search
  /// requested.
  void admit(Field& field) {
    for (; seen_ < field.graph().node_count(); ++seen_) waiting_.push_back(NodeId{seen_});
    std::erase_if(waiting_, [&](NodeId node) {
      if (field.graph()[node].state == NodeState::pending) return false;
      if (!field.measured(node)) return true;
      const auto better = [&](NodeId a, NodeId b) { return field.worth(a) < field.worth(b); };
      frontier_.insert(std::ranges::upper_bound(frontier_, node, better), node);
      if (better(best_, node)) {
        best_ = node;
        away_ = 0;
        if (node == dive_.pending) dived_ = 0;
      }
      return true;
    });
  }

  HistoryOptions options_;
  std::vector<NodeId> frontier_;  // the best last, of equal ones the newest
  std::vector<NodeId> waiting_;   // pending
  std::uint32_t seen_ = 0;        // nodes
  std::unordered_map<std::uint32_t, std::vector<Candidate>> moves_;  // untried, by NodeId
  std::unordered_map<std::uint32_t, Trial> trials_;                  // in flight, by NodeId
  Gains gains_;
  Dive dive_;
  NodeId best_ = kRoot;
  // evaluations since the best improved
  double away_ = 0;   // of moves of other nodes, by best first
  double dived_ = 0;  // by dives
  double root_trials_ = 0;
  double initial_ = -1;  // not known yet
};

}  // namespace

const OptionGroupKind& HistoryOptions::kind() {
  return option_group_kind<HistoryOptions>();
}

void register_strategy_history(StrategyRegistry& registry) {
  registry.add("history",
               "best first, the moves of a node by what they gained elsewhere (Schaeffer 1989)",
               [](const Options& options) { return std::make_unique<History>(options); },
               {&HistoryOptions::kind()});
}

}  // namespace warpath
