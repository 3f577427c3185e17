#include <algorithm>
#include <cmath>
#include <unordered_map>
#include <vector>

#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "register_strategies.h"

namespace warpath {
namespace {

struct HistoryOptions {
  static constexpr std::string_view kGroup = "search";
  static constexpr OptionsOf kOf = OptionsOf::search;

  double history_initial = 2;
  double history_weight = 2;
  double history_bonus = 1;
  template <class Visitor>
  static constexpr void describe(Visitor&& v) {
    using O = HistoryOptions;
    v(&O::history_initial,
      OptionText{"history_initial",
                 "history: moves of the root before any other node's, in square roots of the "
                 "perplexity of its priors",
                 "docs/search.md"},
      Range{0.0, 1000.0});
    v(&O::history_weight,
      OptionText{"history_weight",
                 "history: trials that the prior counts for in a move's expected gain",
                 "docs/search.md"},
      Range{0.01, 1e6});
    v(&O::history_bonus,
      OptionText{"history_bonus",
                 "history: bonus of a move never tried, in mean absolute gains of a move",
                 "docs/search.md"},
      Range{0.0, 100.0});
  }
};
static_assert(kFullyDescribed<HistoryOptions>);

struct Mean {
  double count = 0;
  double sum = 0;
  void add(double x) { count += 1, sum += x; }
  [[nodiscard]] double value() const { return count > 0 ? sum / count : 0; }
};

/// Least squares of gain on ln P, from pairs that arrive one by one.
class Trust {
 public:
  void add(double x, double y) {
    x_.add(x), y_.add(y);
    xx_ += x * x, xy_ += x * y;
  }
  /// The gain expected at `x`. A prior that misleads is not followed, nor reversed.
  [[nodiscard]] double at(double x) const {
    constexpr double kRidge = 1;
    const double covariance = xy_ - x_.count * x_.value() * y_.value();
    const double variance = xx_ - x_.count * x_.value() * x_.value();
    return y_.value() + std::max(0.0, covariance / (kRidge + variance)) * (x - x_.value());
  }

 private:
  Mean x_, y_;
  double xx_ = 0, xy_ = 0;
};

/// Best-first search that tries the moves of a node in the order of what they gained elsewhere: the
/// history heuristic (Schaeffer 1989), or all moves as first (Gelly and Silver 2007). Next is the
/// move of greatest expected gain of the best node that has an untried one; of equal nodes the
/// newest, so that a move that changes nothing and makes another one possible is followed. The
/// first moves are the root's. Formulas in docs/search.md.
class History final : public Strategy {
 public:
  explicit History(const Options& options) : options_(options.of<HistoryOptions>()) {}

  NodeId next(Field& field) override {
    admit(field);
    while (!frontier_.empty()) {
      const bool at_root = root_trials_ < initial(field) && !untried(field, kRoot).empty();
      const NodeId from = at_root ? kRoot : frontier_.back();
      std::vector<Candidate>& moves = untried(field, from);
      if (moves.empty()) {
        std::vector<Candidate>().swap(moves);  // its place stays: it is not opened again
        frontier_.pop_back();
        continue;
      }
      const auto chosen = std::ranges::max_element(
          moves, {}, [&](const Candidate& move) { return expected_gain(move); });
      const Candidate move = *chosen;
      moves.erase(chosen);
      const Field::Arrival arrival = field.act(from, move.action);
      if (!arrival.fresh) continue;
      if (from == kRoot) ++root_trials_;
      trials_.emplace(index(arrival.node), Trial{from, move});
      return arrival.node;
    }
    return field.lattice() == nullptr ? kNoNode : field.fresh_draw();
  }

  void complete(Field& field, NodeId node) override {
    const auto it = trials_.find(index(node));
    if (it == trials_.end()) return;
    const Trial trial = it->second;
    trials_.erase(it);
    if (!field.measured(node)) return;
    const double gain = field.worth(node) - field.worth(trial.from);
    size_.add(std::abs(gain));
    trust_.add(trial.move.log_prior, gain);
    if (trial.move.label != 0) history_[trial.move.label].add(gain);
  }

  [[nodiscard]] bool takes_grafts() const override { return true; }

 private:
  struct Candidate {
    std::uint32_t action = 0;
    double log_prior = 0;     // of P(s,a) times the number of actions
    std::uint64_t label = 0;  // Space::label
  };
  struct Trial {
    NodeId from = kNoNode;
    Candidate move;
  };

  [[nodiscard]] double expected_gain(const Candidate& move) const {
    const auto known = history_.find(move.label);
    const Mean own = known == history_.end() ? Mean{} : known->second;
    const double weight = options_.history_weight;
    const double mean = (weight * trust_.at(move.log_prior) + own.sum) / (weight + own.count);
    return mean + options_.history_bonus * size_.value() / std::sqrt(1 + own.count);
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

  /// Takes in what was measured since the last call, whoever asked for it.
  void admit(Field& field) {
    for (; seen_ < field.graph().node_count(); ++seen_) waiting_.push_back(NodeId{seen_});
    std::erase_if(waiting_, [&](NodeId node) {
      if (field.graph()[node].state == NodeState::pending) return false;
      if (!field.measured(node)) return true;
      const auto better = [&](NodeId a, NodeId b) { return field.worth(a) < field.worth(b); };
      frontier_.insert(std::ranges::upper_bound(frontier_, node, better), node);
      return true;
    });
  }

  HistoryOptions options_;
  std::vector<NodeId> frontier_;  // the best last, of equal ones the newest
  std::vector<NodeId> waiting_;   // pending
  std::uint32_t seen_ = 0;        // nodes
  std::unordered_map<std::uint32_t, std::vector<Candidate>> moves_;  // untried, by NodeId
  std::unordered_map<std::uint32_t, Trial> trials_;                  // in flight, by NodeId
  std::unordered_map<std::uint64_t, Mean> history_;                  // gains, by label
  Mean size_;                                                        // absolute gains
  Trust trust_;
  double root_trials_ = 0;
  double initial_ = -1;  // not known yet
};

}  // namespace

void register_strategy_history(StrategyRegistry& registry) {
  registry.add("history",
               "best first, the moves of a node by what they gained elsewhere (Schaeffer 1989)",
               [](const Options& options) { return std::make_unique<History>(options); },
               {&option_group_kind<HistoryOptions>()});
}

}  // namespace warpath
