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
#include "engine/search/counts.h"
#include "engine/search/search.h"
#include "engine/search/search_backup.h"
#include "engine/search/search_live.h"
#include "engine/search/strategy.h"
#include "engine/search/wide_nodes.h"

namespace warpath {

/// Which action of a node a strategy gets when it draws one.
enum class Draws : std::uint8_t { uniform, prior, ordered };

/// Implementation of Search, shared by search.cc, which selects, widens and backs up, and
/// search_strategy.cc, which implements Field for strategies.
struct Search::Impl final : Field {
  Impl(Space& space_in, const Options& options_in, std::uint64_t seed_in);

  // Field
  [[nodiscard]] const Graph& graph() const override { return nodes; }
  [[nodiscard]] Rng& rng() override { return strategy_stream; }
  [[nodiscard]] const Lattice* lattice() const override { return space.lattice(); }
  void levels(NodeId node, std::span<Level> out) const override { space.levels(node, out); }
  [[nodiscard]] Arrival visit(NodeId from, std::span<const Level> point) override;
  [[nodiscard]] std::uint32_t actions(NodeId node) override;
  [[nodiscard]] std::uint32_t draw_action(NodeId node) override;
  [[nodiscard]] Arrival act(NodeId node, std::uint32_t action) override;
  [[nodiscard]] ActionOrders::Choice ranked(NodeId node, std::uint32_t rank) override {
    if (!orders.has(node)) open(node);
    return orders.at(node, nodes.key(node), rank, nodes[node].action_count);
  }
  [[nodiscard]] std::uint64_t label(NodeId node, std::uint32_t action) const override {
    return space.label(node, action);
  }
  [[nodiscard]] std::uint64_t family(NodeId node, std::uint32_t action) const override {
    return space.family(node, action);
  }
  [[nodiscard]] std::uint64_t site(NodeId node, std::uint32_t action) const override {
    return space.site(node, action);
  }
  [[nodiscard]] Change change(EdgeId edge) override;
  [[nodiscard]] NodeId twin(NodeId node) const override {
    return index(node) < twins.size() ? twins[index(node)] : kNoNode;
  }
  std::optional<Dispatch> next_of_strategy();
  /// Writes or reads the strategy and what the field remembers for it.
  void keep_strategy(StrategyState& out);
  /// Edges from the root to `node` along creating edges.
  [[nodiscard]] std::vector<EdgeId> creating_path(NodeId node) const;

  std::optional<Dispatch> next();
  std::optional<Dispatch> restart();
  /// A random new point, where any can be reached from any: another place to search from, a child
  /// of the root.
  std::optional<Dispatch> draw_point();
  std::optional<Dispatch> graft(NodeId parent, const Hash128& key, float prior);
  void complete(std::uint64_t sequence, const Evaluation& evaluation);

  void open(NodeId v);
  /// The live edge to descend; kNoEdge: try the next action.
  EdgeId select(NodeId v);
  /// The child of `edge` as an arm; nullopt if it cannot be descended.
  [[nodiscard]] std::optional<Arm> arm(EdgeId edge);
  void set_arm(const Graph::Out& edge, Arm& out);
  /// Appends to `arms` and `arm_edges` the children of `v` that the selection may take. Returns how
  /// many edges leave `v`.
  std::size_t list_arms(NodeId v, const NodeView& view);
  /// O_e.
  [[nodiscard]] std::uint32_t in_flight(EdgeId edge);
  /// Links the result of a step from `parent`: the only place where nodes and edges are made. An
  /// existing edge is unchanged; a jump to an existing node makes no edge.
  struct Linked {
    NodeId child = kNoNode;
    EdgeId edge = kNoEdge;  ///< kNoEdge: none made
    bool created = false;   ///< whether the node was created
  };
  Linked link(NodeId parent, const Step& step, const Hash128& key, float prior);
  /// Tries the next action of `v`; returns the edge if it led to a new node, otherwise kNoEdge.
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
  bool tree;    ///< every path creates its own node
  Draws draws;  ///< for a strategy
  bool ignores_in_flight;
  std::unique_ptr<SelectionPolicy> selection;
  std::unique_ptr<WideningPolicy> widening;
  std::unique_ptr<BackupPolicy> backup_policy;
  std::unique_ptr<Strategy> strategy;  ///< null: select, widen, back up
  WideNodes wide;
  Backup backup;
  LiveFlags live;
  ActionOrders orders;
  Rng stream;                        ///< of the current playout, if the selection draws
  Rng strategy_stream;               ///< also of points drawn without a strategy
  std::uint64_t initial;             ///< without a strategy: the first ones
  std::vector<std::uint32_t> turns;  ///< Draws::ordered: actions drawn so far, by NodeId
  Pool<NodeId> twins;                ///< of the strategy's field, by NodeId
  bool asked_in_vain = false;        ///< the search had nothing, and no outcome has arrived since
  Graph nodes;
  State state;
  /// of the paths in state.pending of dispatches before `counted`; a single one in flight is not
  /// counted
  Counts<EdgeId> edges_in_flight;
  std::uint64_t counted = 0;
  std::string place = "snapshot";  ///< for messages about a snapshot that contradicts its space

  // Scratch memory, kept for its capacity.
  std::vector<EdgeId> path;
  std::vector<Arm> arms;
  std::vector<EdgeId> arm_edges;
  std::vector<std::uint32_t> sufficient;
  std::vector<float> priors;
};

}  // namespace warpath
