#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "engine/base/bfloat16.h"
#include "engine/base/hash.h"
#include "engine/base/ids.h"

namespace warpath {

/// The baseline.
inline constexpr NodeId kRoot{0};

enum class NodeState : std::uint8_t {
  pending,   ///< dispatched, no outcome yet
  measured,  ///< has a reward
  failed,    ///< evaluated, no reward; never descended, never in `best`
};

/// Hot part of a node. Rewards are natural logs: ln(baseline / candidate).
///
///   nodes_ [ n0 | n1 | n2 | ... ]          edges_ [ e0 | e1 | ... ]
///            first_out ───────────────────────────▶ e.next_out ─▶ ...
///            first_in  ───────────────────────────▶ e.next_in  ─▶ ...
///
/// Outgoing edges are listed newest last; incoming ones creating edge first, then newest first.
struct Node {
  double reward = 0;  ///< r(v); meaningful when measured
  /// B(v), the maximum of r over everything reachable; exact, cycles included; 0 unless measured
  double best = 0;
  /// M(v), recomputed from the children (Q is the backup policy's mix of both); 0 unless measured
  double value = 0;
  std::uint32_t visits = 0;     ///< N(v) = 1 + sum of N(v,a) once evaluated
  std::uint32_t in_flight = 0;  ///< O(v): evaluations in flight at or below v
  EdgeId first_out = kNoEdge, last_out = kNoEdge, first_in = kNoEdge;
  std::uint32_t next_action = 0;   ///< cursor into the node's order of untried actions
  std::uint32_t action_count = 0;  ///< after opening
  std::uint32_t live_out = 0;      ///< forward edges to live children
  std::uint16_t depth = 0;         ///< that of the creating parent + 1
  NodeState state = NodeState::pending;
  bool opened = false;
  /// measured, and unopened or with untried actions or a live forward child
  bool live = false;
  std::uint8_t unused[3] = {};  ///< explicit padding, as nodes are written as memory images
};
static_assert(sizeof(Node) == 64);

/// O(s,a) is not stored here: few edges are on a path in flight, and the search counts those
/// (engine/search/edges_in_flight.h).
struct Edge {
  NodeId source = kNoNode;
  NodeId target = kNoNode;
  EdgeId next_out = kNoEdge;
  EdgeId next_in = kNoEdge;
  std::uint32_t visits = 0;  ///< N(s,a)
  std::uint16_t action = 0;  ///< index in the source's action list
  BFloat16 prior;            ///< P(s,a)
};
static_assert(sizeof(Edge) == 24);

/// Arenas of nodes and edges with 32-bit ids, and the hash table key -> node. Equal keys are one
/// node. Node 0 is the root. Models Boost.Graph's VertexListGraph, EdgeListGraph and
/// BidirectionalGraph through engine/search/graph_boost.h. Not thread-safe: one thread owns the
/// graph.
class Graph {
 public:
  /// The node with `key`; if there is none, creates it (pending, at `depth`) and sets `created`.
  NodeId find_or_insert(const Hash128& key, std::uint16_t depth, bool& created);
  [[nodiscard]] NodeId find(const Hash128& key) const;  ///< kNoNode if absent
  /// At most one edge joins two nodes in one direction: the caller must check find_edge first.
  /// `action` < 2^16.
  EdgeId add_edge(NodeId source, NodeId target, std::uint32_t action, float prior);
  [[nodiscard]] EdgeId find_edge(NodeId source, NodeId target) const;

  [[nodiscard]] Node& operator[](NodeId id) { return nodes_[index(id)]; }
  [[nodiscard]] const Node& operator[](NodeId id) const { return nodes_[index(id)]; }
  [[nodiscard]] Edge& operator[](EdgeId id) { return edges_[index(id)]; }
  [[nodiscard]] const Edge& operator[](EdgeId id) const { return edges_[index(id)]; }
  [[nodiscard]] const Hash128& key(NodeId id) const { return keys_[index(id)]; }
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  [[nodiscard]] std::uint32_t edge_count() const {
    return static_cast<std::uint32_t>(edges_.size());
  }

  /// Only forward edges may be descended: descents then run on a DAG, even if the graph has cycles.
  [[nodiscard]] bool forward(const Edge& edge) const {
    return (*this)[edge.target].depth > (*this)[edge.source].depth;
  }

  /// Hash of the whole graph in id order, floating point by bit pattern: equal runs have equal
  /// fingerprints.
  [[nodiscard]] Hash128 fingerprint() const;

  /// Raw arenas, for snapshots. Throws Error(bad_input) with `place` if the parts are inconsistent.
  struct Arenas {
    std::vector<Node> nodes;
    std::vector<Edge> edges;
    std::vector<Hash128> keys;
  };
  [[nodiscard]] Arenas arenas() const { return {nodes_, edges_, keys_}; }
  [[nodiscard]] static Graph from_arenas(Arenas arenas, std::string_view place);

 private:
  std::vector<Node> nodes_;
  std::vector<Edge> edges_;
  std::vector<Hash128> keys_;  // by NodeId
  // open addressing, linear probing, a power of two, at most 3/4 full
  std::vector<NodeId> slots_;

  [[nodiscard]] std::size_t slot_of(const Hash128& key) const;
  void grow_table();
  void link(EdgeId id);
};

}  // namespace warpath
