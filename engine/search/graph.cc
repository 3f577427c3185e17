#include "engine/search/graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/base/error.h"

namespace warpath {
namespace {

constexpr std::size_t kLeastNodeSlots = 16;

/// Follows every list of `count` links from `first`; calls `visit(edge)`, which says whether the
/// edge belongs there. False on a link out of range, a foreign edge or a cycle.
template <class Next, class Visit>
bool walk_list(EdgeId first, std::size_t edge_count, Next next, Visit visit) {
  std::size_t steps = 0;
  for (EdgeId e = first; e != kNoEdge; e = next(e)) {
    if (index(e) >= edge_count || ++steps > edge_count || !visit(e)) return false;
  }
  return true;
}

/// What is wrong with the arenas taken by themselves; empty if nothing.
std::string misfit(const Graph::Arenas& arenas) {
  const auto& [nodes, edges, keys] = arenas;
  if (nodes.empty()) return "at least one node";
  if (keys.size() != nodes.size())
    return "as many keys as nodes (" + std::to_string(nodes.size()) + ")";
  if (nodes.size() >= index(kNoNode) || edges.size() >= index(kNoEdge))
    return "fewer than 2^32 - 1 nodes and edges";
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& e = edges[i];
    if (index(e.source) >= nodes.size() || index(e.target) >= nodes.size()) {
      return "edge " + std::to_string(i) + " to join nodes that exist";
    }
    if (!std::isfinite(e.prior.value()))
      return "edge " + std::to_string(i) + " to have a finite prior";
  }
  std::vector<char> listed_out(edges.size()), listed_in(edges.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    const NodeId id{static_cast<std::uint32_t>(i)};
    const std::string name = "node " + std::to_string(i);
    if (n.state > NodeState::failed) return name + " to have a known state";
    if (!std::isfinite(n.reward) || !std::isfinite(n.best) || !std::isfinite(n.value))
      return name + " to have finite values";
    EdgeId last = kNoEdge;
    const bool out_ok = walk_list(
        n.first_out, edges.size(), [&](EdgeId e) { return edges[index(e)].next_out; },
        [&](EdgeId e) {
          return last = e, edges[index(e)].source == id && !std::exchange(listed_out[index(e)], 1);
        });
    if (!out_ok || last != n.last_out) return name + " to list the edges that leave it";
    const bool in_ok = walk_list(
        n.first_in, edges.size(), [&](EdgeId e) { return edges[index(e)].next_in; },
        [&](EdgeId e) {
          return edges[index(e)].target == id && !std::exchange(listed_in[index(e)], 1);
        });
    if (!in_ok) return name + " to list the edges that enter it";
  }
  for (std::size_t i = 0; i < edges.size(); ++i) {
    if (!listed_out[i] || !listed_in[i])
      return "edge " + std::to_string(i) + " to be listed by both its ends";
  }
  return {};
}

}  // namespace

std::size_t Graph::slot_of(const Hash128& key) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = static_cast<std::size_t>(key.low) & mask;
  while (slots_[slot] != kNoNode && keys_[index(slots_[slot])] != key) slot = (slot + 1) & mask;
  return slot;
}

void Graph::grow_table() {
  const std::size_t size = std::max(kLeastNodeSlots, slots_.size() * 2);
  slots_.assign(size, kNoNode);
  for (std::uint32_t i = 0; i < node_count(); ++i) slots_[slot_of(keys_[i])] = NodeId{i};
}

NodeId Graph::find(const Hash128& key) const {
  return slots_.empty() ? kNoNode : slots_[slot_of(key)];
}

NodeId Graph::find_or_insert(const Hash128& key, std::uint16_t depth, bool& created) {
  if (4 * (nodes_.size() + 1) > 3 * slots_.size()) grow_table();
  NodeId& slot = slots_[slot_of(key)];
  created = slot == kNoNode;
  if (!created) return slot;
  WARPATH_CHECK(node_count() < index(kNoNode));
  const NodeId id{node_count()};
  nodes_.push_back(Node{.depth = depth});
  keys_.push_back(key);
  return slot = id;
}

EdgeId Graph::add_edge(NodeId source, NodeId target, std::uint32_t action, float prior) {
  WARPATH_CHECK(edge_count() < index(kNoEdge) &&
                action <= std::numeric_limits<std::uint16_t>::max());
  const EdgeId id{edge_count()};
  edges_.push_back(Edge{.source = source,
                        .target = target,
                        .action = static_cast<std::uint16_t>(action),
                        .prior = BFloat16(prior)});
  link(id);
  return id;
}

void Graph::link(EdgeId id) {
  Edge& edge = (*this)[id];
  Node& source = (*this)[edge.source];
  (source.last_out == kNoEdge ? source.first_out : (*this)[source.last_out].next_out) = id;
  source.last_out = id;
  Node& target = (*this)[edge.target];
  if (target.first_in == kNoEdge) {
    target.first_in = id;
  } else {  // after the first, so that a node's creating edge stays at the head
    edge.next_in = std::exchange((*this)[target.first_in].next_in, id);
  }
}

EdgeId Graph::find_edge(NodeId source, NodeId target) const {
  EdgeId out = (*this)[source].first_out;
  EdgeId in = (*this)[target].first_in;
  while (out != kNoEdge && in != kNoEdge) {  // the shorter of the two lists decides
    if ((*this)[out].target == target) return out;
    if ((*this)[in].source == source) return in;
    out = (*this)[out].next_out;
    in = (*this)[in].next_in;
  }
  return kNoEdge;
}

Hash128 Graph::fingerprint() const {
  Hasher h;
  h.add(node_count()).add(edge_count());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    const Node& n = nodes_[i];
    h.add(keys_[i]).add(n.reward).add(n.best).add(n.value).add(n.visits).add(n.in_flight);
    h.add(index(n.first_out)).add(index(n.last_out)).add(index(n.first_in));
    h.add(n.next_action).add(n.action_count).add(n.live_out).add(std::uint32_t{n.depth});
    h.add(static_cast<std::uint32_t>(n.state))
        .add(std::uint32_t{n.opened})
        .add(std::uint32_t{n.live});
  }
  for (const Edge& e : edges_) {
    h.add(index(e.source)).add(index(e.target)).add(index(e.next_out)).add(index(e.next_in));
    h.add(std::uint32_t{e.action}).add(static_cast<double>(e.prior.value())).add(e.visits);
  }
  return h.digest();
}

Graph Graph::from_arenas(Arenas arenas, std::string_view place) {
  if (const std::string wrong = misfit(arenas); !wrong.empty()) throw bad_input(place, "", wrong);
  Graph g;
  g.nodes_ = std::move(arenas.nodes);
  g.edges_ = std::move(arenas.edges);
  g.keys_ = std::move(arenas.keys);
  while (4 * g.nodes_.size() > 3 * g.slots_.size()) {
    g.slots_.resize(std::max(kLeastNodeSlots, g.slots_.size() * 2));
  }
  std::fill(g.slots_.begin(), g.slots_.end(), kNoNode);
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    NodeId& slot = g.slots_[g.slot_of(g.keys_[i])];
    if (slot != kNoNode) throw bad_input(place, g.keys_[i].hex(), "every key once");
    slot = NodeId{i};
  }
  return g;
}

}  // namespace warpath
