#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/statistics.h"
#include "engine/plugin/policy.h"
#include "engine/search/change.h"
#include "engine/search/graph.h"
#include "engine/search/lattice.h"

namespace warpath {

class StrategyState;

/// The action of an edge that sets several tunables at once (Space::jump).
inline constexpr std::uint32_t kJump = UINT16_MAX;
/// The action of an edge requested by the space (Search::graft).
inline constexpr std::uint32_t kGraft = UINT16_MAX - 1;
/// Maximum number of actions of a node: an edge stores its action in 16 bits.
inline constexpr std::uint32_t kMostActions = 65'533;
static_assert(kMostActions <= kGraft);

/// A step from a node: one of its actions, or all tunables at once.
struct Step {
  std::uint32_t action = kJump;       ///< kJump: to `point`; kGraft: neither
  std::span<const Level> point = {};  ///< as passed to Space::jump
};

/// The search space: the actions of a node and where they lead. Keys are content hashes.
class Space {
 public:
  virtual ~Space() = default;
  /// Fills P(s,a) of every action of `node` (sum 1; empty: no actions). Called when a node is first
  /// selected for expansion, and again after a resume: must be a pure function of the node's
  /// content and the seed, or replayed from the log. With more than kMostActions the calling
  /// function throws Error(bad_input).
  virtual void open(NodeId node, std::vector<float>& priors) = 0;
  /// Key of the variant that `action` of `node` leads to; nullopt if it is illegal, which costs
  /// nothing.
  virtual std::optional<Hash128> apply(NodeId node, std::uint32_t action) = 0;
  /// Equal for one change at different nodes, so that what became of it at one is evidence at
  /// another; 0: nothing is known. `node` was opened.
  [[nodiscard]] virtual std::uint64_t label(NodeId /*node*/, std::uint32_t /*action*/) const {
    return 0;
  }
  /// Equal for changes of one kind, such as a move with other parameters.
  [[nodiscard]] virtual std::uint64_t family(NodeId node, std::uint32_t action) const {
    return label(node, action);
  }
  /// Equal for changes of one kind at one place.
  [[nodiscard]] virtual std::uint64_t site(NodeId node, std::uint32_t action) const {
    return label(node, action);
  }
  /// What made `node`, a graft.
  [[nodiscard]] virtual Change grafted(NodeId /*node*/) const { return {}; }
  /// The step from `parent` led to a new node with this key: the space stores its content under the
  /// id `child`, the next one. Not called for grafts.
  virtual void create(NodeId child, NodeId parent, const Step& step, const Hash128& key) = 0;

  /// The tunables as axes; null if there are none.
  [[nodiscard]] virtual const Lattice* lattice() const { return nullptr; }
  /// Levels of the tunables of `node`: [axes]. Like jump(), only with a lattice.
  virtual void levels(NodeId, std::span<Level>) const {}
  /// Key of the variant of `node` with its tunables at `point`, which is legal in the lattice;
  /// nullopt if the variant is illegal nevertheless.
  virtual std::optional<Hash128> jump(NodeId, std::span<const Level>) { return std::nullopt; }
};

/// One requested evaluation. `sequence` counts dispatches from 0.
struct Dispatch {
  std::uint64_t sequence = 0;
  NodeId node = kNoNode;
  NodeId parent = kNoNode;
  std::uint32_t action = 0;
};

/// The part of an outcome that the search uses.
struct Evaluation {
  bool ok = false;
  double reward = 0;  ///< ln(baseline / candidate) over the workloads; ignored unless ok
  /// the first node found to run the same machine code; kNoNode: none, or unknown
  NodeId twin = kNoNode;
};

/// Why `next` returned nullopt.
enum class Idle : std::uint8_t { none, waiting, exhausted };

/// Makes the options of every registered policy and strategy settable by name.
void add_search_options(Options& options);
/// Throws Error(bad_input) if `options` names an unknown policy or kind of sharing.
void check_search_options(const Options& options);

/// Monte Carlo graph search: select, widen, back up; or another Strategy over the same graph. Owns
/// the graph. Not thread-safe. No I/O, no clock: a pure function of (options, space, sequence of
/// calls), hence deterministic and replayable.
///
/// Reference: M. Rosin 2011 (PUCT); Czech et al. 2021 and the KataGo notes on graph search (edge
/// visits, idempotent recomputation); Liu et al. 2020 (unobserved visits, WU-UCT). Formulas in
/// docs/search.md.
class Search {
 public:
  /// `space` must outlive the search. `seed`: root of every random stream. The root is measured,
  /// with reward 0 (the baseline against itself). Throws Error(bad_input) naming an option that
  /// names no policy.
  Search(Space& space, const Options& options, std::uint64_t seed, const Hash128& root_key);
  ~Search();

  /// Selects a node and reserves the path to it (O += 1). nullopt: see idle(). Such a call may have
  /// consumed actions that proved illegal or known, so a replay must repeat it at the same
  /// position; calling it again changes nothing more.
  [[nodiscard]] std::optional<Dispatch> next();
  /// Dispatches an evaluation that is not one of the parent's actions: a sibling of its children
  /// found by the space (inner tuning, late proposals). `key`: of the variant; `parent` must be
  /// measured. nullopt, without changes, if that variant is already a node or would be too deep;
  /// otherwise the caller must make the new node known to the space.
  [[nodiscard]] std::optional<Dispatch> graft(NodeId parent, const Hash128& key, float prior);
  [[nodiscard]] Idle idle() const;
  /// Applies the outcome of a dispatch: O -= 1 and N += 1 along its path, recomputes M from leaf to
  /// root, propagates B. `sequence` must be in flight; a reward must be finite.
  void complete(std::uint64_t sequence, const Evaluation& evaluation);

  [[nodiscard]] const Graph& graph() const;
  [[nodiscard]] NodeId best() const;  ///< highest reward; ties to the lowest id
  /// O_e: number of paths in flight through `edge`.
  [[nodiscard]] std::uint32_t in_flight(EdgeId edge) const;
  /// Edges from the root to the node of dispatch `sequence`, which must be in flight.
  [[nodiscard]] std::vector<EdgeId> path_of(std::uint64_t sequence) const;
  /// Graph fingerprint plus counters and paths in flight.
  [[nodiscard]] Hash128 fingerprint() const;

  /// The state beyond the graph that a snapshot must hold.
  struct State {
    std::uint64_t next_sequence = 0;
    std::uint64_t playouts = 0;  ///< completed
    Welford rewards;             ///< of all measured nodes, root included
    double floor = 0;            ///< lowest measured reward
    NodeId best = kNoNode;
    struct Pending {
      Dispatch dispatch;
      std::vector<EdgeId> path;
    };
    std::vector<Pending> pending;  ///< by sequence
  };
  [[nodiscard]] const State& state() const;
  /// Writes or reads what the strategy knows; it is read by a search that was made from the graph
  /// and the state of the one that wrote it, before anything else is asked of that.
  void keep(StrategyState& state);
  /// True if the search goes on from grafts.
  [[nodiscard]] bool takes_grafts() const;
  /// Strategy::surveys.
  [[nodiscard]] bool surveys() const;
  /// Continues from a snapshot, bit for bit like the search that made it. Nodes that were open are
  /// reopened once, before their next action is tried. Throws Error(bad_input) with `place` if the
  /// parts are inconsistent.
  Search(Space& space,
         const Options& options,
         std::uint64_t seed,
         Graph graph,
         State state,
         std::string_view place);

  // Check of the invariants, for tests and `--check`: empty, or one line naming the first
  // violation.
  [[nodiscard]] std::string violated_invariant() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace warpath
