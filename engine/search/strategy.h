#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/registry.h"
#include "engine/base/rng.h"
#include "engine/search/action_order.h"
#include "engine/search/change.h"
#include "engine/search/graph.h"
#include "engine/search/lattice.h"
#include "engine/search/strategy_state.h"

namespace warpath {

struct Options;  // engine/plugin/options.h

/// The operations of the hosting search that a strategy may use: the graph, and ways to new
/// variants. Ways start from measured nodes (the root replaces any other) and cost nothing by
/// themselves.
class Field {
 public:
  /// The end of a way. kNoNode: none, the variant is illegal. `fresh`: the node was just created
  /// and is pending; the strategy must return it from next() before using another way.
  struct Arrival {
    NodeId node = kNoNode;
    bool fresh = false;
  };

  virtual ~Field() = default;
  [[nodiscard]] virtual const Graph& graph() const = 0;
  /// The strategy's random stream.
  [[nodiscard]] virtual Rng& rng() = 0;
  /// Null if the space has no tunables.
  [[nodiscard]] virtual const Lattice* lattice() const = 0;
  /// Levels of the tunables of `node`: [axes].
  virtual void levels(NodeId node, std::span<Level> out) const = 0;
  /// The variant of `from` with its tunables at `point`. Requires a lattice.
  [[nodiscard]] virtual Arrival visit(NodeId from, std::span<const Level> point) = 0;
  /// Number of actions of `node`; 0 unless it is measured.
  [[nodiscard]] virtual std::uint32_t actions(NodeId node) = 0;
  /// The next action of `node` according to search.draws, of which there must be one: random, or
  /// in turn by P(s,a) descending, the first after the last.
  [[nodiscard]] virtual std::uint32_t draw_action(NodeId node) = 0;
  [[nodiscard]] virtual Arrival act(NodeId node, std::uint32_t action) = 0;
  /// One of the actions of `node`, by P(s,a) descending; rank < actions(node).
  [[nodiscard]] virtual ActionOrders::Choice ranked(NodeId node, std::uint32_t rank) = 0;
  /// Space::label.
  [[nodiscard]] virtual std::uint64_t label(NodeId node, std::uint32_t action) const = 0;
  /// Space::family.
  [[nodiscard]] virtual std::uint64_t family(NodeId node, std::uint32_t action) const = 0;
  /// Space::site.
  [[nodiscard]] virtual std::uint64_t site(NodeId node, std::uint32_t action) const = 0;
  /// What the step of an edge changes; nothing that is known of a jump.
  [[nodiscard]] virtual Change change(EdgeId edge) = 0;
  /// Evaluation::twin; kNoNode also of nodes in flight.
  [[nodiscard]] virtual NodeId twin(NodeId node) const = 0;

  // Derived from the above, for spaces of tunables, of moves, or of both.

  [[nodiscard]] bool measured(NodeId node) const {
    return graph().state(node) == NodeState::measured;
  }
  /// The reward for comparisons; a failed variant is worse than any other.
  [[nodiscard]] double worth(NodeId node) const;
  /// A random variant: a uniform point of the tunables, or the first new variant on a random walk
  /// from the root.
  [[nodiscard]] Arrival draw();
  /// A random variant that differs in up to `radius` tunables or by one move.
  [[nodiscard]] Arrival neighbour(NodeId from, int radius);
  /// A child of two nodes: each tunable from one of them or, with probability `mutation`, from
  /// neither; or a move of `b`'s neighbourhood applied to `a`.
  [[nodiscard]] Arrival recombine(NodeId a, NodeId b, double mutation);
  /// The first new variant in up to a thousand calls of `way`; kNoNode if there is none.
  template <class Way>
  [[nodiscard]] NodeId fresh(Way way) {
    for (int i = 0; i < 1000; ++i) {
      if (const Arrival arrival = way(); arrival.fresh) return arrival.node;
    }
    return kNoNode;
  }
  /// A new variant from draw() with more attempts: the last resort of strategies that would
  /// otherwise stop with budget left.
  [[nodiscard]] NodeId fresh_draw();

 private:
  [[nodiscard]] Arrival walk();
};

/// Decides what is evaluated next. A pure function of the calls and the field's stream, so that a
/// log can replay it. Not thread-safe. Must allow any number of evaluations in flight: next() is
/// called again before earlier outcomes are known.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// A fresh node from one of the field's ways; kNoNode: nothing until the next outcome, or ever.
  [[nodiscard]] virtual NodeId next(Field& field) = 0;
  /// The graph has received the outcome of a node returned by next().
  virtual void complete(Field&, NodeId) {}
  /// Saves or restores the strategy's state. The state of `field` is restored separately, before
  /// this call.
  virtual void keep(StrategyState& state, Field& field) = 0;
  /// True if it goes on from nodes that it did not ask for (Search::graft): inner tuning is then of
  /// use beside it.
  [[nodiscard]] virtual bool takes_grafts() const { return false; }
  /// True while it has moves to ask for before all else: inner tuning then waits.
  [[nodiscard]] virtual bool surveys() const { return false; }
};
using StrategyRegistry = Registry<Strategy, const Options&>;

/// The registered strategy named in `options`; null for "mcgs", the search's own. "auto" is
/// `guided` if `lattice` is complete, otherwise `history`. Throws Error(bad_input) naming the
/// option and the known strategies.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(const Options& options,
                                                      const Lattice* lattice);

/// The initial point of a search over a complete lattice: a uniform draw, or from the strategy's
/// design if it has one. `failed`: number of those asked for with this seed before it, all of which
/// failed. Throws Error(bad_input) if the lattice has no legal point.
[[nodiscard]] std::vector<Level> first_point(const Options& options,
                                             const Lattice& lattice,
                                             std::uint64_t seed,
                                             std::uint64_t failed = 0);

}  // namespace warpath
