#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/base/registry.h"
#include "engine/base/rng.h"
#include "engine/search/graph.h"
#include "engine/search/lattice.h"

namespace warpath {

struct SearchOptions;  // engine/plugin/options.h

/// What a strategy may ask of the search that hosts it: the graph, and ways to new variants. Every
/// way leaves a node that is measured (else the root stands in for it) and spends nothing by
/// itself.
class Field {
 public:
  /// Where a way led. kNoNode: nowhere, the variant is illegal. `fresh`: the node was made just
  /// now, pending; the strategy must return it from next() before it asks for another way.
  struct Arrival {
    NodeId node = kNoNode;
    bool fresh = false;
  };

  virtual ~Field() = default;
  [[nodiscard]] virtual const Graph& graph() const = 0;
  /// The strategy's random stream.
  [[nodiscard]] virtual Rng& rng() = 0;
  /// Null where the space has no tunables.
  [[nodiscard]] virtual const Lattice* lattice() const = 0;
  /// Levels of the tunables of `node`: [axes].
  virtual void levels(NodeId node, std::span<Level> out) const = 0;
  /// The variant of `from` with its tunables at `point`. Only with a lattice.
  [[nodiscard]] virtual Arrival visit(NodeId from, std::span<const Level> point) = 0;
  /// Number of actions of `node`; 0 unless it is measured.
  [[nodiscard]] virtual std::uint32_t actions(NodeId node) = 0;
  /// One of them at random, as search.draws says; `node` has some.
  [[nodiscard]] virtual std::uint32_t draw_action(NodeId node) = 0;
  [[nodiscard]] virtual Arrival act(NodeId node, std::uint32_t action) = 0;

  // Made of the above, alike for spaces of tunables, of moves, and of both.

  [[nodiscard]] bool measured(NodeId node) const {
    return graph()[node].state == NodeState::measured;
  }
  /// Rewards compare; a failed variant is worse than any.
  [[nodiscard]] double worth(NodeId node) const;
  /// A random variant: a uniform point of the tunables, or a random walk from the root that ends at
  /// the first new variant.
  [[nodiscard]] Arrival draw();
  /// A random variant that differs in up to `radius` tunables or by one move.
  [[nodiscard]] Arrival neighbour(NodeId from, int radius);
  /// A child of two: every tunable from one of them, at `mutation` (a share) from neither; or a
  /// move of `b`'s neighbourhood on `a`.
  [[nodiscard]] Arrival recombine(NodeId a, NodeId b, double mutation);
  /// The first new variant of up to a thousand calls of `way`; kNoNode if none is.
  template <class Way>
  [[nodiscard]] NodeId fresh(Way way) {
    for (int i = 0; i < 1000; ++i) {
      if (const Arrival arrival = way(); arrival.fresh) return arrival.node;
    }
    return kNoNode;
  }
  /// A new variant from draw(), by more tries: the last resort of strategies that would otherwise
  /// stop with budget left.
  [[nodiscard]] NodeId fresh_draw();

 private:
  [[nodiscard]] Arrival walk();
};

/// Decides what is evaluated next. A pure function of the calls and the field's stream: a log
/// replays it. One thread only. Works with any number of evaluations under way: next() is asked
/// again before earlier outcomes are known.
class Strategy {
 public:
  virtual ~Strategy() = default;
  /// A fresh node of one of the field's ways; kNoNode: nothing before the next outcome, or at all.
  [[nodiscard]] virtual NodeId next(Field& field) = 0;
  /// The outcome of a node that next() returned is in the graph.
  virtual void complete(Field&, NodeId) {}
};
using StrategyRegistry = Registry<Strategy, const SearchOptions&>;

/// The registered strategy that `options` names; null for "mcgs", the search's own. "auto" is
/// `guided` where `lattice` is complete, else mcgs. Throws Error(bad_input) naming the option and
/// every known strategy.
[[nodiscard]] std::unique_ptr<Strategy> make_strategy(const SearchOptions& options,
                                                      const Lattice* lattice);

/// Where a search over a complete lattice begins: a uniform draw, or the design of the strategy
/// that has one. Throws Error(bad_input) if the lattice has no legal point.
[[nodiscard]] std::vector<Level> first_point(const SearchOptions& options,
                                             const Lattice& lattice,
                                             std::uint64_t seed);

}  // namespace warpath
