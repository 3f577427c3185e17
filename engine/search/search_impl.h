#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/base/rng.h"
#include "engine/plugin/options.h"
#include "engine/search/action_order.h"
#include "engine/search/edges_in_flight.h"
#include "engine/search/search.h"
#include "engine/search/search_backup.h"
#include "engine/search/search_live.h"
#include "engine/search/strategy.h"

namespace warpath {

/// What selection makes of evaluations under way.
enum class Parallel : std::uint8_t { unobserved, virtual_loss, ignored };

/// What a Search is made of: for search.cc, which selects, widens and backs up, and
/// search_strategy.cc, what strategies may ask of it.
struct Search::Impl final : Field {
  Impl(Space& space_in, const SearchOptions& options_in, std::uint64_t seed_in);

  // Field
  [[nodiscard]] const Graph& graph() const override { return nodes; }
  [[nodiscard]] Rng& rng() override { return strategy_stream; }
  [[nodiscard]] const Lattice* lattice() const override { return space.lattice(); }
  void levels(NodeId node, std::span<Level> out) const override { space.levels(node, out); }
  [[nodiscard]] Arrival visit(NodeId from, std::span<const Level> point) override;
  [[nodiscard]] std::uint32_t actions(NodeId node) override;
  [[nodiscard]] std::uint32_t draw_action(NodeId node) override;
  [[nodiscard]] Arrival act(NodeId node, std::uint32_t action) override;
  std::optional<Dispatch> next_of_strategy();
  /// Edges from the root to `node` along creating edges.
  [[nodiscard]] std::vector<EdgeId> creating_path(NodeId node) const;

  std::optional<Dispatch> next();
  std::optional<Dispatch> graft(NodeId parent, const Hash128& key, float prior);
  void complete(std::uint64_t sequence, const Evaluation& evaluation);

  void open(NodeId v);
  /// The live edge to descend, or kNoEdge: try the next action.
  EdgeId select(NodeId v);
  /// O_e.
  [[nodiscard]] std::uint32_t in_flight(EdgeId edge);
  /// Changes `arms` as search.parallel asks.
  void weigh_in_flight(double spread);
  /// Links what a step from `parent` leads to: the one place where nodes and edges are made. An
  /// edge that was there stays as it is; a jump to a node that was there makes none.
  struct Linked {
    NodeId child = kNoNode;
    EdgeId edge = kNoEdge;  ///< kNoEdge: not made
    bool created = false;   ///< the node was
  };
  Linked link(NodeId parent, const Step& step, const Hash128& key, float prior);
  /// Tries the next action of `v`; the edge if it led to a new node, else kNoEdge.
  EdgeId expand(NodeId v);
  Dispatch dispatch();
  [[nodiscard]] double sigma() const {
    return std::max(options.sigma_floor, state.rewards.deviation());
  }
  [[nodiscard]] Hash128 key_of_child(NodeId parent, std::uint32_t action, const Hash128& key) const;
  [[nodiscard]] std::vector<State::Pending>::iterator find_pending(std::uint64_t sequence);

  Space& space;
  SearchOptions options;
  std::uint64_t seed;
  bool tree;            ///< every path makes its own node
  bool draws_by_prior;  ///< of a strategy
  Parallel parallel;
  std::unique_ptr<SelectionPolicy> selection;
  std::unique_ptr<WideningPolicy> widening;
  std::unique_ptr<BackupPolicy> backup_policy;
  Backup backup;
  LiveFlags live;
  ActionOrders orders;
  Rng stream;                          ///< of the playout under way, if the selection draws
  std::unique_ptr<Strategy> strategy;  ///< null: select, widen, back up
  Rng strategy_stream;
  bool asked_in_vain = false;  ///< the strategy had nothing; no outcome came since
  Graph nodes;
  State state;
  /// of the paths in state.pending of dispatches before `counted`: with one at a time nothing is
  /// counted
  EdgesInFlight edges_in_flight;
  std::uint64_t counted = 0;
  std::string place = "snapshot";  ///< for messages about a snapshot that its space contradicts

  // Scratch, kept for its capacity.
  std::vector<EdgeId> path;
  std::vector<Arm> arms;
  std::vector<EdgeId> arm_edges;
  std::vector<float> priors;
};

}  // namespace warpath
