#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/pool.h"
#include "engine/plugin/policy.h"
#include "engine/search/graph.h"
#include "engine/search/sorted_blocks.h"

namespace warpath {

/// A row of terms and their total, in groups of groups:
///
///   levels_[1]  [ t0 + ... + t63 | t64 + ... + t127 | ... ]
///   levels_[0]  [ t0 | t1 | t2 | ...                      ]     by position
///
/// Each sum is that of its group from left to right, so that the total depends on the terms alone,
/// bit for bit, and not on the order in which they changed.
class TermSums {
 public:
  /// Measured children in `visits`, `value` (the sum of N(s,a) M) and `best`; failed ones in
  /// `failed` (the sum of N(s,a)).
  struct Term {
    std::uint64_t visits = 0;
    double value = 0;
    double best = 0;
    std::uint64_t failed = 0;
    bool operator==(const Term&) const = default;
  };
  /// `position`: at most their number, which then rises by one. O(log) of it.
  void set(std::size_t position, const Term& term);
  [[nodiscard]] const Term& at(std::size_t position) const { return levels_[0][position]; }
  [[nodiscard]] Term total() const;

 private:
  static constexpr std::size_t kGroup = 64;
  [[nodiscard]] static Term sum(const Pool<Term>& terms, std::size_t group);

  std::vector<Pool<Term>> levels_{1};
};

/// The arms of a node by kind: of arms that are alike but for Arm::value, a policy that goes by
/// score takes one of the highest value. There are few kinds where priors are equal: one for each
/// number of visits that an arm has.
class ArmKinds {
 public:
  ArmKinds() = default;
  ArmKinds(const ArmKinds&) = delete;
  ArmKinds& operator=(const ArmKinds&) = delete;
  ~ArmKinds() = default;
  /// nullopt: there is none at `position`.
  void set(std::size_t position, const std::optional<Arm>& arm);
  [[nodiscard]] std::optional<Arm> at(std::size_t position) const;
  /// Appends the positions, ascending, of the arms that suffice: among them `policy`, which must go
  /// by score, selects the one that it would select among all.
  void sufficient(const SelectionPolicy& policy,
                  const NodeView& node,
                  Rng& rng,
                  std::vector<std::uint32_t>& out) const;

 private:
  struct Kind {
    double prior = 0;
    std::uint32_t visits = 0, in_flight = 0;
    auto operator<=>(const Kind&) const = default;
  };
  struct Entry {
    double value = 0;
    std::uint32_t position = 0;
    bool operator==(const Entry&) const = default;
    /// Rises in value, and falls in position where that is equal.
    bool operator<(const Entry& other) const {
      return value != other.value ? value < other.value : position > other.position;
    }
  };
  using Kinds = std::map<Kind, SortedBlocks<Entry>>;
  struct Known {
    double value = 0;
    Kinds::pointer kind = nullptr;  // null: no arm
  };

  Pool<Known> arms_;  // by position
  Kinds kinds_;
};

/// What the search asks about the children of nodes that have very many of them (points drawn from
/// the root, in a long campaign), kept up to date by what changes: neither a selection nor a
/// recomputation looks at every child.
class WideNodes {
 public:
  /// Nodes with more edges than this are wide.
  static constexpr std::size_t kMostLooked = 1024;

  struct Wide {
    Pool<EdgeId> edges;  ///< that leave the node, in order of creation; the positions
    TermSums terms;
    ArmKinds arms;
  };
  using ArmOf = std::function<std::optional<Arm>(EdgeId)>;

  /// `arm_of`: the arm that an edge is for selection, nullopt if it cannot be descended. Empty:
  /// arms are not kept.
  explicit WideNodes(ArmOf arm_of = {}) : arm_of_(std::move(arm_of)) {}

  /// To be called when a node, N of an edge to it or O of it has changed.
  void changed(NodeId node) {
    if (index(node) >= watched_.size() || watched_[index(node)] != Watch::quiet) return;
    watched_[index(node)] = Watch::changed;
    changed_.push_back(node);
  }
  /// As the graph is now; null: the node is not known to be wide.
  [[nodiscard]] const Wide* find(const Graph& graph, NodeId node);
  /// From now on the node, which has more than kMostLooked edges, is known to be wide.
  const Wide& add(const Graph& graph, NodeId node);
  /// Empty, or one line that names the first wide node that is not as the graph is.
  [[nodiscard]] std::string violated_invariant(const Graph& graph);

 private:
  enum class Watch : std::uint8_t { no, quiet, changed };

  /// Takes in new edges of the node and what changed at all wide ones.
  void settle(const Graph& graph, Wide& wide, NodeId node);
  void put(const Graph& graph, Wide& wide, std::size_t position);

  ArmOf arm_of_;
  std::map<NodeId, Wide> wide_;
  Pool<Watch> watched_;  // by NodeId: children of wide nodes
  std::vector<NodeId> changed_;
};

}  // namespace warpath
