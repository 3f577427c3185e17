#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/gumbel.h"
#include "engine/plugin/option_codec.h"
#include "engine/plugin/options.h"
#include "engine/search/move_gains.h"
#include "engine/search/node_table.h"
#include "engine/search/relinking.h"
#include "engine/search/sorted_blocks.h"
#include "engine/search/strategy/history_options.h"
#include "engine/search/survey.h"
#include "register_strategies.h"

namespace warpath {
namespace {

/// Best-first search that tries the moves of a node in the order of what they, and others of their
/// kind, gained elsewhere, most of all at similar nodes: the history heuristic (Schaeffer 1989), or
/// all moves as first (Gelly and Silver 2007). Next is the move of greatest expected gain of the
/// best node that has an untried one; of equal nodes the newest, so that a move that changes
/// nothing and makes another one possible is followed. The first moves are the root's.
///
/// Where the best has nothing left, every other evaluation is a dive's: it descends from a node of
/// the way to the best, first by a move of any kind, then by a softmax of gains, known ones of
/// known children and expected ones of untried moves, through losses, until it has found nothing
/// better for a while. A share of the dives makes the way again with another step of the same kind
/// before that (Relinking).
///
/// What differs by no more than a margin is equal: it is no new best, and a node whose moves
/// promise no more than that is put off unless it is the best, a worse one sooner: measurements of
/// hundreds of variants that change nothing would bring a better one again and again otherwise.
///
/// What runs the machine code of an earlier node is put off, and so are, at the node and below,
/// moves of the kind that led to the same code as there, if the kind mostly does nothing: they come
/// when all else was tried. Dives make none. Formulas in docs/search.md.
class History final : public Strategy {
 public:
  explicit History(const Options& options)
      : options_(options.of<HistoryOptions>()),
        gains_(options_.history_reach, options_.history_margin) {}

  NodeId next(Field& field) override {
    admit(field);
    if (dived_ < options_.history_dives * away_) {
      if (const NodeId node = dive(field); node != kNoNode) {
        ++dived_;
        return node;
      }
    }
    if (const NodeId node = climb(field); node != kNoNode) return node;
    return field.lattice() == nullptr ? kNoNode : field.fresh_draw();
  }

  void complete(Field& field, NodeId node) override {
    const auto it = trials_.find(index(node));
    if (it == trials_.end()) return;
    const auto [from, move] = it->second;
    trials_.erase(it);
    if (!field.measured(node)) return;
    Place& place = places_[from];
    std::optional<double> gain;
    if (code(field, node) != code(field, from)) gain = field.worth(node) - field.worth(from);
    gains_.add(move, place.context, gain);
    if (!gain && !std::ranges::binary_search(place.put_off, move.family)) {
      place.put_off.insert(std::ranges::upper_bound(place.put_off, move.family), move.family);
      ++put_offs_;
    }
  }

  void keep(StrategyState& state, Field& field) override {
    state(frontier_, waiting_, seen_);
    places_.keep(state, field.graph().node_count());
    keep_labels(state, field.graph().node_count());
    state(trials_, gains_, dive_, best_);
    state(away_, dived_, root_trials_, initial_, survey_);
  }

  [[nodiscard]] bool takes_grafts() const override { return true; }
  [[nodiscard]] bool surveys() const override { return !survey_.empty(); }

 private:
  struct Trial {
    NodeId from = kNoNode;
    NodeMove move;
    void keep(StrategyState& state) { state(from, move, move.log_prior, move.label, move.family); }
  };
  struct Child {
    NodeId node = kNoNode;
    std::optional<double> gain;  // nullopt: in flight
    std::uint64_t family = 0;    // of the move that leads there
    EdgeId edge = kNoEdge;       // to it
  };
  /// A node whose moves were asked for.
  struct Place {
    std::vector<NodeMove> untried;       // by P(s,a) descending
    std::uint32_t context = 0;           // of gains_
    std::vector<std::uint64_t> put_off;  // families, sorted
    bool late = false;                   // only moves that are put off are left
    bool opened = false;                 // in this process, so that more than `action` is known
    std::vector<std::uint64_t> off;      // what put_off() returned when there were `offs` put_offs_
    std::uint64_t offs = UINT64_MAX;
    // Where dives may go on, near one another in memory: the targets of its edges to `last_out`
    // that are in flight or measured and run machine code of their own.
    std::vector<Child> children;
    EdgeId last_out = kNoEdge;
    bool waits = false;  // a child is in flight
    void keep(StrategyState& state) { state(untried, context, put_off, late); }
  };
  /// The way of a dive so far.
  struct Dive {
    std::vector<NodeId> nodes;  // sorted; it returns to none
    NodeId at = kNoNode;        // kNoNode: over
    NodeId pending = kNoNode;   // where it goes on unless this fails
    double most = 0;            // greatest reward
    int since = 0;              // evaluations since that
    bool begins = false;        // its first step is to come
    Relinking relinking;
    void keep(StrategyState& state) { state(nodes, at, pending, most, since, begins, relinking); }
  };

  /// A new node by best first.
  NodeId climb(Field& field) {
    while (!frontier_.empty()) {
      const bool first = root_trials_ < initial(field) && !place(field, kRoot).untried.empty();
      const NodeId from = first ? kRoot : frontier_.back();
      Place& here = place(field, from);
      if (here.untried.empty()) {
        frontier_.pop_back();
        continue;
      }
      const auto [at, put_off, gain] = surveys() ? surveyed(here) : best_move(field, from);
      const double promised = options_.history_margin +
                              options_.history_shortfall * (field.worth(best_) - field.worth(from));
      const bool idle = !first && from != best_ && gain <= promised;
      if ((put_off || idle) && !here.late) {
        frontier_.erase(from, better(field));
        here.late = true;
        frontier_.insert(from, better(field));
        continue;
      }
      const Field::Arrival arrival = take(field, from, at);
      if (!arrival.fresh) continue;
      if (from == kRoot) ++root_trials_;
      if (!first && from != best_) ++away_;
      return arrival.node;
    }
    return kNoNode;
  }

  struct Move {
    std::size_t at = 0;  // among the untried
    bool put_off = false;
    double gain = 0;  // expected
  };
  /// The next of the survey, which the root has not tried: nothing else asks for its moves before.
  Move surveyed(const Place& root) {
    const std::uint32_t action = survey_.back();
    survey_.pop_back();
    const auto at = std::ranges::find(root.untried, action, &NodeMove::action);
    return {.at = static_cast<std::size_t>(at - root.untried.begin())};
  }
  Move best_move(Field& field, NodeId from) {
    Place& here = place(field, from);
    const std::vector<NodeMove>& moves = here.untried;
    const std::vector<std::uint64_t>& off = put_off(field, from, here);
    gains_.look_from(here.context);
    Move out;
    double most = -std::numeric_limits<double>::infinity();
    for (std::size_t i = 0; i < moves.size(); ++i) {
      const bool later = std::ranges::binary_search(off, moves[i].family) &&
                         gains_.changes_little(moves[i].family);
      const double gain = gains_.expected(moves[i], options_.history_bonus);
      if (i > 0 && std::tuple(later, -gain) >= std::tuple(out.put_off, -most)) continue;
      out = {.at = i, .put_off = later, .gain = gain};
      most = gain;
    }
    return out;
  }

  /// Families that are put off at a node: there or on the way to it they changed nothing.
  const std::vector<std::uint64_t>& put_off(Field& field, NodeId node, Place& place) const {
    std::vector<std::uint64_t>& out = place.off;
    if (std::exchange(place.offs, put_offs_) == put_offs_) return out;
    out.clear();
    for (;; node = creator(field, node)) {
      if (const Place* const known = places_.find(node))
        out.insert(out.end(), known->put_off.begin(), known->put_off.end());
      if (node == kRoot) break;
    }
    std::ranges::sort(out);
    return out;
  }

  [[nodiscard]] static NodeId creator(Field& field, NodeId node) {
    const Graph& graph = field.graph();
    return graph.source(graph.first_in(node));
  }
  /// The first node that runs the machine code of `node`.
  [[nodiscard]] static NodeId code(Field& field, NodeId node) {
    const NodeId twin = field.twin(node);
    return twin == kNoNode ? node : twin;
  }

  /// A new node by the dive under way or the next one; kNoNode if it waits for an outcome or there
  /// is none to be found.
  NodeId dive(Field& field) {
    constexpr int kSteps = 1000;   // through known nodes
    constexpr int kPatience = 20;  // evaluations
    for (int step = 0; step < kSteps; ++step) {
      if (dive_.pending != kNoNode) {
        if (field.graph().state(dive_.pending) == NodeState::pending) return kNoNode;
        enter(field, dive_.pending);
        dive_.pending = kNoNode;
      }
      if (dive_.at == kNoNode || dive_.since >= kPatience) begin_dive(field);
      const Step next = choose_in_dive(field);
      if (next.known != kNoNode) {
        enter(field, next.known);
      } else if (next.untried < 0) {
        dive_.at = kNoNode;
      } else if (const Field::Arrival arrival =
                     take(field, dive_.at, static_cast<std::size_t>(next.untried));
                 arrival.fresh) {
        ++dive_.since;
        dive_.pending = arrival.node;
        return arrival.node;
      }
    }
    return kNoNode;
  }

  void begin_dive(Field& field) {
    if (way_.empty() || way_.front().node != best_)
      way_ = way_of(field, best_, options_.history_margin);
    dive_ = {.nodes = std::move(dive_.nodes), .relinking = {}};  // for its capacity
    dive_.nodes.clear();
    const std::size_t at = field.rng().below(way_.size());
    enter(field, way_[at].node);
    dive_.begins = true;
    if (at > 0 && field.rng().uniform() < options_.history_relink)
      dive_.relinking.begin(changes_from(field, way_, at));
  }

  void enter(Field& field, NodeId node) {
    if (!field.measured(node) || (dive_.at != kNoNode && field.twin(node) != kNoNode)) return;
    if (dive_.at == kNoNode || field.worth(node) > dive_.most + options_.history_margin) {
      dive_.most = field.worth(node);
      dive_.since = 0;
    }
    dive_.at = node;
    dive_.nodes.insert(std::ranges::upper_bound(dive_.nodes, node), node);
  }

  /// Where a dive may go on from a node.
  struct Step {
    NodeId known = kNoNode;       // a child, or
    std::ptrdiff_t untried = -1;  // place of a move among the untried; -1: none
    EdgeId edge = kNoEdge;        // to the child
    double gain = 0;              // known or expected
    std::uint64_t family = 0;
  };
  const std::vector<Step>& steps_from(Field& field, NodeId node) {
    steps_.clear();
    Place& here = place(field, node);
    take_in_children(field, node, here);
    for (const auto& [child, gain, family, edge] : here.children) {
      if (gain && !std::ranges::binary_search(dive_.nodes, child))
        steps_.push_back({.known = child, .edge = edge, .gain = *gain, .family = family});
    }
    const std::vector<NodeMove>& moves = here.untried;
    if (moves.empty()) return steps_;
    const std::vector<std::uint64_t>& off = put_off(field, node, here);
    gains_.look_from(here.context);
    for (std::size_t i = 0; i < moves.size(); ++i) {
      if (!std::ranges::binary_search(off, moves[i].family)) {
        steps_.push_back({.untried = static_cast<std::ptrdiff_t>(i),
                          .gain = gains_.expected(moves[i], 0),
                          .family = moves[i].family});
      }
    }
    return steps_;
  }

  /// Drawn in proportion to e^(gain / temperature), as the maximum with Gumbel noise. The first
  /// step of a dive is one of any family, whatever that gained.
  Step choose_in_dive(Field& field) {
    const std::vector<Step>& steps = steps_from(field, dive_.at);
    if (dive_.relinking.under_way()) {
      if (const std::ptrdiff_t next = relink(field, steps); next >= 0) {
        dive_.begins = false;
        return steps[static_cast<std::size_t>(next)];
      }
    }
    const bool first = std::exchange(dive_.begins, false);
    std::unordered_map<std::uint64_t, double> count;  // by family
    for (std::size_t i = 0; first && i < steps.size(); ++i) ++count[steps[i].family];
    const double temperature = first ? 1 : options_.history_temperature * gains_.size();
    Step out;
    double most = -std::numeric_limits<double>::infinity();
    for (const Step& step : steps) {
      const double drawn = field.rng().uniform();
      const double gain = first ? -std::log(count[step.family]) : step.gain;
      if (gain + temperature * gumbel_at_most(drawn) <= most) continue;
      const double noisy = gain + temperature * gumbel_of(drawn);
      if (noisy <= most) continue;
      most = noisy;
      out = step;
    }
    return out;
  }

  std::ptrdiff_t relink(Field& field, const std::vector<Step>& steps) {
    const std::vector<NodeMove>& moves = places_[dive_.at].untried;
    std::vector<Relinking::Step> open;
    open.reserve(steps.size());
    for (const Step& step : steps) {
      if (step.untried < 0) {
        open.push_back({.change = field.change(step.edge), .gain = step.gain});
        continue;
      }
      const NodeMove& move = moves[static_cast<std::size_t>(step.untried)];
      const std::uint64_t site = field.site(dive_.at, move.action);
      open.push_back({.change = {.label = move.label, .site = site, .family = move.family},
                      .gain = step.gain});
    }
    return dive_.relinking.next(open, field.rng());
  }

  static std::uint64_t family_of(Field& field, NodeId node, std::uint32_t action) {
    return action < field.actions(node) ? field.family(node, action) : 0;  // none: a graft
  }

  static void take_in_children(Field& field, NodeId node, Place& place) {
    const Graph& graph = field.graph();
    if (const EdgeId last = graph.last_out(node); last != place.last_out) {
      EdgeId edge =
          place.last_out == kNoEdge ? graph[node].first_out : graph[place.last_out].next_out;
      for (; edge != kNoEdge; edge = graph[edge].next_out)
        place.children.push_back({.node = graph.target(edge),
                                  .gain = std::nullopt,
                                  .family = family_of(field, node, graph[edge].action),
                                  .edge = edge});
      place.last_out = last;
      place.waits = true;
    }
    if (!place.waits) return;
    place.waits = false;
    std::erase_if(place.children, [&](Child& child) {
      if (child.gain) return false;
      if (graph.state(child.node) == NodeState::pending) {
        place.waits = true;
        return false;
      }
      if (!field.measured(child.node) || field.twin(child.node) != kNoNode) return true;
      child.gain = graph.reward(child.node) - graph.reward(node);
      return false;
    });
  }

  /// Applies an untried move of `from`.
  Field::Arrival take(Field& field, NodeId from, std::size_t at) {
    std::vector<NodeMove>& moves = places_[from].untried;
    const NodeMove move = moves[at];
    moves.erase(moves.begin() + static_cast<std::ptrdiff_t>(at));
    const Field::Arrival arrival = field.act(from, move.action);
    if (arrival.fresh) {
      trials_.emplace(index(arrival.node), Trial{from, move});
      labels_.resize(index(arrival.node) + std::size_t{1});
      labels_[index(arrival.node)] = move.label;
    }
    return arrival;
  }

  [[nodiscard]] double initial(Field& field) {
    if (initial_ < 0) {
      Survey survey = survey_of_root(field, options_.history_initial);
      initial_ = survey.moves;
      survey_ = std::move(survey.actions);
    }
    return initial_;
  }

  void keep_labels(StrategyState& state, std::uint32_t nodes) {
    const auto known = std::ssize(labels_) - std::ranges::count(labels_, 0U);
    labels_.resize(nodes);
    std::size_t count = state.size(static_cast<std::size_t>(known));
    for (std::uint32_t node = 0; count > 0; --count, ++node) {
      while (!state.reads() && labels_[node] == 0) ++node;
      state(node);
      if (node >= nodes) throw bad_input("state", std::to_string(node), "a node that there is");
      state(labels_[node]);
    }
  }

  /// `node` is opened when it is first asked for, after a resume once again.
  Place& place(Field& field, NodeId node) {
    Place* const known = places_.find(node);
    if (known != nullptr && known->opened) return *known;
    const bool first = known == nullptr;
    Place& out = places_[node];
    out.opened = true;
    const std::uint32_t count = field.actions(node);
    std::vector<NodeMove> moves;
    for (std::uint32_t rank = 0; rank < count; ++rank) {
      const auto [action, prior] = field.ranked(node, rank);
      if (!first && std::ranges::find(out.untried, action, &NodeMove::action) == out.untried.end())
        continue;
      constexpr double kLeast = 1e-3;
      const double share = std::max(kLeast, static_cast<double>(prior) * count);
      moves.push_back(
          {action, std::log(share), field.label(node, action), field.family(node, action)});
    }
    out.untried = std::move(moves);
    if (first) out.context = gains_.add_context(way_to(field, node));
    return out;
  }

  /// The labels of the moves that lead to `node`.
  [[nodiscard]] std::vector<std::uint64_t> way_to(Field& field, NodeId node) const {
    std::vector<std::uint64_t> out;
    for (; node != kRoot; node = creator(field, node)) {
      const std::uint64_t label = index(node) < labels_.size() ? labels_[index(node)] : 0;
      out.push_back(label != 0 ? label : index(node));
    }
    return out;
  }

  /// Takes in everything measured since the last call, also what other parts of the search
  /// requested.
  void admit(Field& field) {
    for (; seen_ < field.graph().node_count(); ++seen_) waiting_.push_back(NodeId{seen_});
    std::erase_if(waiting_, [&](NodeId node) {
      if (field.graph().state(node) == NodeState::pending) return false;
      if (!field.measured(node)) return true;
      frontier_.insert(node, better(field));
      if (field.twin(node) == kNoNode &&
          field.worth(node) > field.worth(best_) + options_.history_margin) {
        best_ = node;
        away_ = 0;
        if (node == dive_.pending) dived_ = 0;
      }
      return true;
    });
  }

  /// The order of the frontier.
  struct Better {
    const History& of;
    const Field& field;
    [[nodiscard]] std::tuple<bool, double, NodeId> rank(NodeId node) const {
      const Place* const known = of.places_.find(node);
      const bool late = field.twin(node) != kNoNode || (known != nullptr && known->late);
      return {!late, field.worth(node), node};
    }
    bool operator()(NodeId a, NodeId b) const { return rank(a) < rank(b); }
  };
  [[nodiscard]] Better better(const Field& field) const { return {*this, field}; }

  HistoryOptions options_;
  SortedBlocks<NodeId> frontier_;  // the best last, of equal ones the newest
  std::vector<NodeId> waiting_;    // pending
  std::uint32_t seen_ = 0;         // nodes
  NodeTable<Place> places_;
  std::vector<std::uint64_t> labels_;                // of what made nodes, by NodeId; 0: unknown
  std::unordered_map<std::uint32_t, Trial> trials_;  // in flight, by NodeId
  Gains gains_;
  Dive dive_;
  std::vector<Step> steps_;  // kept for its capacity
  NodeId best_ = kRoot;
  std::vector<WayStep> way_;    // to a best node, of steps that changed something
  std::uint64_t put_offs_ = 0;  // families that were put off at a place
  double away_ = 0;             // moves of other nodes since the best improved, by best first
  double dived_ = 0;            // evaluations since then, by dives
  double root_trials_ = 0;
  double initial_ = -1;                // Survey::moves; not known yet
  std::vector<std::uint32_t> survey_;  // what is left of Survey::actions
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
