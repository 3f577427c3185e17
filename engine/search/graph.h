#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/base/bfloat16.h"
#include "engine/base/hash.h"
#include "engine/base/ids.h"
#include "engine/base/key_table.h"
#include "engine/base/pool.h"
#include "engine/search/counts.h"

namespace warpath {

/// The baseline.
inline constexpr NodeId kRoot{0};

enum class NodeState : std::uint8_t {
  pending,   ///< dispatched, no outcome yet
  measured,  ///< has a reward
  failed,    ///< evaluated, no reward; never descended, never in `best`
};

/// Everything about a node. Rewards are natural logs: ln(baseline / candidate).
struct Node {
  double reward = 0;  ///< r(v); meaningful when measured
  /// B(v), the maximum of r over everything reachable; exact, cycles included; 0 unless measured
  double best = 0;
  /// M(v), recomputed from the children (Q is the backup policy's mix of both); 0 unless measured
  double value = 0;
  std::uint32_t visits = 0;     ///< N(v) = 1 + sum of N(v,a) once evaluated
  std::uint32_t in_flight = 0;  ///< O(v): evaluations in flight at or below v
  EdgeId first_out = kNoEdge, last_out = kNoEdge, first_in = kNoEdge;
  std::uint32_t next_action = 0;   ///< cursor into the node's order of untried actions; < 2^16
  std::uint32_t action_count = 0;  ///< after opening; < 2^16
  std::uint32_t live_out = 0;      ///< forward edges to live children
  std::uint16_t depth = 0;         ///< that of the creating parent + 1
  NodeState state = NodeState::pending;
  bool opened = false;
  /// measured, and unopened or with untried actions or a live forward child
  bool live = false;
  std::uint8_t unused[3] = {};  ///< explicit padding, as nodes are written as memory images
};
static_assert(sizeof(Node) == 64);

/// Everything about an edge. O(s,a) is not part of it: few edges are on a path in flight, and the
/// search counts those.
struct Edge {
  NodeId source = kNoNode;
  NodeId target = kNoNode;
  EdgeId next_out = kNoEdge;  ///< the next edge that leaves the source, in order of creation
  EdgeId next_in = kNoEdge;   ///< after the edge that made the target, the newest first
  std::uint32_t visits = 0;   ///< N(s,a)
  std::uint16_t action = 0;   ///< index in the source's action list
  BFloat16 prior;             ///< P(s,a)
};
static_assert(sizeof(Edge) == 24);

/// Nodes and edges with 32-bit ids in order of creation, and the hash table key -> node. Equal keys
/// are one node. Node 0 is the root. Models Boost.Graph's VertexListGraph, EdgeListGraph and
/// BidirectionalGraph through engine/search/graph_boost.h. Not thread-safe: one thread owns the
/// graph.
///
/// operator[] puts a node or an edge together from what is stored, which is less than its fields:
///
///   nodes_       [ n0 | n1 | n2 | ... ]       what every node has
///   expansions_  [ x0 | x1 | ... ]            what only nodes with actions or edges have
///   links_       [ e0 | e1 | e2 | e3 | ... ]  target and next_in
///   runs_        [ r0      | r1 | r2 ...   ]  edges made in turn that agree in source and prior
///
/// A search tries several actions of a node in turn, so a run has some four edges: they share
/// source, prior and next_out. Of the edges into a node most visits are of the one that made it:
/// its N(s,a) is N(v) less the visits by other edges, which are counted in a table.
class Graph {
 public:
  /// The node with `key`; if there is none, creates it (pending, at `depth`) and sets `created`.
  NodeId find_or_insert(const Hash128& key, std::uint16_t depth, bool& created);
  [[nodiscard]] NodeId find(const Hash128& key) const;  ///< kNoNode if absent
  /// At most one edge joins two nodes in one direction: the caller must check find_edge first.
  /// `action` < 2^16.
  EdgeId add_edge(NodeId source, NodeId target, std::uint32_t action, float prior);
  [[nodiscard]] EdgeId find_edge(NodeId source, NodeId target) const;

  [[nodiscard]] Node operator[](NodeId id) const;
  [[nodiscard]] Edge operator[](EdgeId id) const;
  // Single fields, where a search looks at many nodes and edges.
  [[nodiscard]] double reward(NodeId id) const { return nodes_[index(id)].reward; }
  [[nodiscard]] NodeState state(NodeId id) const { return nodes_[index(id)].state; }
  [[nodiscard]] bool opened(NodeId id) const { return nodes_[index(id)].opened; }
  [[nodiscard]] std::uint32_t untried(NodeId id) const;  ///< actions
  [[nodiscard]] std::uint32_t action_count(NodeId id) const;
  [[nodiscard]] bool live(NodeId id) const { return nodes_[index(id)].live; }
  [[nodiscard]] std::uint16_t depth(NodeId id) const { return nodes_[index(id)].depth; }
  [[nodiscard]] double best(NodeId id) const;
  [[nodiscard]] double value(NodeId id) const;
  [[nodiscard]] std::uint32_t in_flight(NodeId id) const {
    return nodes_[index(id)].reserved ? 1 + more_in_flight_[id] : 0;
  }
  [[nodiscard]] EdgeId last_out(NodeId id) const;
  [[nodiscard]] EdgeId first_in(NodeId id) const { return nodes_[index(id)].first_in; }
  [[nodiscard]] NodeId source(EdgeId id) const { return runs_[run_of(id)].source; }
  [[nodiscard]] NodeId target(EdgeId id) const { return links_[index(id)].target; }
  [[nodiscard]] EdgeId next_in(EdgeId id) const { return links_[index(id)].next_in; }
  [[nodiscard]] std::uint32_t visits(NodeId id) const { return nodes_[index(id)].visits; }
  [[nodiscard]] std::uint32_t visits(EdgeId id) const;
  [[nodiscard]] std::uint16_t action(EdgeId id) const { return actions_[index(id)]; }

  /// An edge that leaves a node.
  struct Out {
    EdgeId edge = kNoEdge;
    NodeId target = kNoNode;
    BFloat16 prior;
  };
  class OutEdges;
  /// The edges that leave a node, in order of creation; for a loop during which none is added.
  [[nodiscard]] OutEdges out(NodeId id) const;

  [[nodiscard]] const Hash128& key(NodeId id) const { return keys_[index(id)]; }
  [[nodiscard]] std::uint32_t node_count() const {
    return static_cast<std::uint32_t>(nodes_.size());
  }
  [[nodiscard]] std::uint32_t edge_count() const {
    return static_cast<std::uint32_t>(links_.size());
  }

  /// Only forward edges may be descended: descents then run on a DAG, even if the graph has cycles.
  [[nodiscard]] bool forward(EdgeId edge) const {
    return depth(target(edge)) > depth(source(edge));
  }

  /// The outcome of a node: r = B = M = `reward`, or that it failed.
  void measure(NodeId id, double reward);
  void fail(NodeId id) { nodes_[index(id)].state = NodeState::failed; }
  /// Opens a node with so many actions, of which those tried stay tried; < 2^16.
  void open(NodeId id, std::uint32_t action_count);
  /// The next of its actions, of which there must be one, is tried.
  void try_action(NodeId id) { ++expansion(id).next_action; }
  void set_best(NodeId id, double best) { expansion(id).best = best; }
  void set_value(NodeId id, double value) { expansion(id).value = value; }
  void set_live(NodeId id, bool live) { nodes_[index(id)].live = live; }
  /// One live child more or, if not `more`, one less.
  void count_live_child(NodeId id, bool more);
  /// O(v) += 1.
  void reserve(NodeId id);
  /// O(v) -= 1.
  void release(NodeId id);
  /// N(v) += 1 of the root; N(s,a) += `times` of an edge, which leads to another node, and with it
  /// N of its target.
  void visit_root() { ++nodes_[index(kRoot)].visits; }
  void visit(EdgeId id, std::uint32_t times = 1);

  /// Hash of the whole graph in id order, floating point by bit pattern: equal runs have equal
  /// fingerprints.
  [[nodiscard]] Hash128 fingerprint() const;

  /// All of it, wherever it is: each is asked for by its number, in order, more than once.
  struct Rows {
    std::uint64_t nodes = 0, edges = 0;
    std::function<Hash128(std::uint32_t)> key;
    std::function<Node(std::uint32_t)> node;
    std::function<Edge(std::uint32_t)> edge;
  };
  /// Throws Error(bad_input) with `place` if they are inconsistent.
  [[nodiscard]] static Graph from_rows(const Rows& rows, std::string_view place);

 private:
  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct Core {
    double reward = 0;
    std::uint32_t visits = 0;
    EdgeId first_in = kNoEdge;
    std::uint32_t expansion = kNone;  // in expansions_
    std::uint16_t depth = 0;
    NodeState state = NodeState::pending;
    bool opened : 1 = false, live : 1 = false;
    bool reserved : 1 = false;      // O(v) > 0
    bool other_visits : 1 = false;  // by edges that did not make it
  };
  static_assert(sizeof(Core) == 24);
  struct Expansion {
    double best = 0, value = 0;  // without an expansion both are the reward
    std::uint32_t first_run = kNone, last_run = kNone;
    std::uint32_t live_out = 0;
    std::uint16_t next_action = 0, action_count = 0;
  };
  static_assert(sizeof(Expansion) == 32);
  struct Link {
    NodeId target = kNoNode;
    EdgeId next_in = kNoEdge;
  };
  struct Run {
    EdgeId first = kNoEdge;
    NodeId source = kNoNode;
    std::uint32_t next = kNone;  // of the source
  };
  static constexpr std::uint32_t kEdgesOfPlace = 32;

  Pool<Core> nodes_;
  Pool<Expansion> expansions_;
  Pool<Link> links_;             // by EdgeId
  Pool<std::uint16_t> actions_;  // by EdgeId
  Pool<Run> runs_;
  Pool<BFloat16> priors_;           // by run
  Pool<std::uint32_t> places_;      // by EdgeId / kEdgesOfPlace: the run of the first of them
  Counts<NodeId> more_in_flight_;   // O(v) - 1 where it is more than 1
  Counts<EdgeId> other_visits_;     // N(s,a) of edges that did not make their target
  Counts<NodeId> other_visits_of_;  // the sum of these, by target
  KeyTable keys_;                   // by NodeId

  Expansion& expansion(NodeId id);
  /// Sets everything but links and visits.
  void put(NodeId id, const Node& node);
  /// What links and visits of `rows` should be to agree with these; empty if they do.
  [[nodiscard]] std::string difference(const Rows& rows) const;

  [[nodiscard]] std::uint32_t run_of(EdgeId id) const {
    std::uint32_t run = places_[index(id) / kEdgesOfPlace];
    while (end_of_run(run) <= index(id)) ++run;
    return run;
  }
  /// The first edge after a run.
  [[nodiscard]] std::uint32_t end_of_run(std::uint32_t run) const {
    return run + 1 < runs_.size() ? index(runs_[run + 1].first) : edge_count();
  }
  /// The first edge of a run, which there need not be.
  [[nodiscard]] EdgeId first_of_run(std::uint32_t run) const {
    return run == kNone ? kNoEdge : runs_[run].first;
  }
};

inline Node Graph::operator[](NodeId id) const {
  const Core& core = nodes_[index(id)];
  Node out{.reward = core.reward,
           .best = core.reward,
           .value = core.reward,
           .visits = core.visits,
           .in_flight = in_flight(id),
           .first_in = core.first_in,
           .depth = core.depth,
           .state = core.state,
           .opened = core.opened,
           .live = core.live};
  if (core.expansion == kNone) return out;
  const Expansion& more = expansions_[core.expansion];
  out.best = more.best;
  out.value = more.value;
  out.first_out = first_of_run(more.first_run);
  out.last_out = last_out(id);
  out.next_action = more.next_action;
  out.action_count = more.action_count;
  out.live_out = more.live_out;
  return out;
}

inline Edge Graph::operator[](EdgeId id) const {
  const std::uint32_t run = run_of(id);
  const std::uint32_t next = index(id) + 1;
  return {.source = runs_[run].source,
          .target = target(id),
          .next_out = next < end_of_run(run) ? EdgeId{next} : first_of_run(runs_[run].next),
          .next_in = next_in(id),
          .visits = visits(id),
          .action = actions_[index(id)],
          .prior = priors_[run]};
}

inline EdgeId Graph::last_out(NodeId id) const {
  const Core& core = nodes_[index(id)];
  const std::uint32_t run = core.expansion == kNone ? kNone : expansions_[core.expansion].last_run;
  return run == kNone ? kNoEdge : EdgeId{end_of_run(run) - 1};
}

inline double Graph::best(NodeId id) const {
  const Core& core = nodes_[index(id)];
  return core.expansion == kNone ? core.reward : expansions_[core.expansion].best;
}

inline double Graph::value(NodeId id) const {
  const Core& core = nodes_[index(id)];
  return core.expansion == kNone ? core.reward : expansions_[core.expansion].value;
}

inline std::uint32_t Graph::untried(NodeId id) const {
  const Core& core = nodes_[index(id)];
  if (core.expansion == kNone) return 0;
  const Expansion& more = expansions_[core.expansion];
  return std::uint32_t{more.action_count} - more.next_action;
}

inline std::uint32_t Graph::action_count(NodeId id) const {
  const Core& core = nodes_[index(id)];
  return core.expansion == kNone ? 0 : expansions_[core.expansion].action_count;
}

inline std::uint32_t Graph::visits(EdgeId id) const {
  const NodeId to = target(id);
  const Core& core = nodes_[index(to)];
  const bool made = core.first_in == id && to != kRoot;
  if (!core.other_visits) return made ? core.visits : 0;
  return made ? core.visits - other_visits_of_[to] : other_visits_[id];
}

class Graph::OutEdges {
 public:
  class Iterator {
   public:
    Iterator(const Graph& graph, std::uint32_t run) : graph_(&graph) { enter(run); }
    Out operator*() const { return {EdgeId{at_}, graph_->links_[at_].target, prior_}; }
    Iterator& operator++() {
      if (++at_ == end_) enter(next_);
      return *this;
    }
    bool operator==(EdgeId end) const { return at_ == index(end); }

   private:
    void enter(std::uint32_t run) {
      at_ = index(graph_->first_of_run(run));
      if (run == kNone) return;
      end_ = graph_->end_of_run(run);
      next_ = graph_->runs_[run].next;
      prior_ = graph_->priors_[run];
    }

    const Graph* graph_;
    std::uint32_t at_ = 0, end_ = 0, next_ = kNone;  // the edge, the end of its run, the next run
    BFloat16 prior_;
  };

  OutEdges(const Graph& graph, std::uint32_t run) : graph_(&graph), run_(run) {}
  [[nodiscard]] Iterator begin() const { return {*graph_, run_}; }
  [[nodiscard]] EdgeId end() const { return kNoEdge; }

 private:
  const Graph* graph_;
  std::uint32_t run_;
};

inline Graph::OutEdges Graph::out(NodeId id) const {
  const Core& core = nodes_[index(id)];
  return {*this, core.expansion == kNone ? kNone : expansions_[core.expansion].first_run};
}

}  // namespace warpath
