#include "engine/search/graph.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "engine/base/error.h"

namespace warpath {
namespace {

/// What is wrong with a node taken by itself; empty if nothing.
std::string misfit(const Node& n) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::uint16_t>::max();
  if (n.state > NodeState::failed) return " to have a known state";
  if (!std::isfinite(n.reward) || !std::isfinite(n.best) || !std::isfinite(n.value))
    return " to have finite values";
  if (n.next_action > kMost || n.action_count > kMost) return " to have fewer than 2^16 actions";
  return {};
}

std::string misfit(const Edge& e, std::uint32_t nodes) {
  if (index(e.source) >= nodes || index(e.target) >= nodes) return " to join nodes that exist";
  return std::isfinite(e.prior.value()) ? "" : " to have a finite prior";
}

bool same_bits(double a, double b) {
  return std::bit_cast<std::uint64_t>(a) == std::bit_cast<std::uint64_t>(b);
}

}  // namespace

static_assert(NodeId{KeyTable::kNone} == kNoNode);

NodeId Graph::find(const Hash128& key) const {
  return NodeId{keys_.find(key)};
}

NodeId Graph::find_or_insert(const Hash128& key, std::uint16_t depth, bool& created) {
  const KeyTable::Inserted at = keys_.insert(key);
  created = at.created;
  if (created) nodes_.push_back({.depth = depth});
  return NodeId{at.number};
}

EdgeId Graph::add_edge(NodeId source, NodeId target, std::uint32_t action, float prior) {
  WARPATH_CHECK(edge_count() < index(kNoEdge) &&
                action <= std::numeric_limits<std::uint16_t>::max());
  const EdgeId id{edge_count()};
  const BFloat16 exact(prior);
  const auto run = static_cast<std::uint32_t>(runs_.size());
  if (run == 0 || runs_.back().source != source || priors_.back() != exact) {
    Expansion& from = expansion(source);
    const std::uint32_t before = std::exchange(from.last_run, run);
    (before == kNone ? from.first_run : runs_[before].next) = run;
    runs_.push_back({.first = id, .source = source});
    priors_.push_back(exact);
  }
  if (index(id) % kEdgesOfPlace == 0)
    places_.push_back(static_cast<std::uint32_t>(runs_.size() - 1));
  EdgeId& first_in = nodes_[index(target)].first_in;
  if (first_in == kNoEdge) {
    first_in = id;
    links_.push_back({.target = target});
  } else {  // after the first, so that a node's creating edge stays at the head
    const EdgeId next_in = std::exchange(links_[index(first_in)].next_in, id);
    links_.push_back({.target = target, .next_in = next_in});
  }
  actions_.push_back(static_cast<std::uint16_t>(action));
  return id;
}

EdgeId Graph::find_edge(NodeId source_id, NodeId target_id) const {
  constexpr int kNear = 64;  // edges that leave a node are near one another, those into it are not
  EdgeId in = nodes_[index(target_id)].first_in;
  if (in == kNoEdge) return kNoEdge;
  int looked = 0;
  for (const Out& one : out(source_id)) {
    if (one.target == target_id) return one.edge;
    if (++looked <= kNear) continue;
    // then the shorter of the two lists decides
    if (source(in) == source_id) return in;
    in = next_in(in);
    if (in == kNoEdge) return kNoEdge;
  }
  return kNoEdge;
}

Graph::Expansion& Graph::expansion(NodeId id) {
  Core& core = nodes_[index(id)];
  if (core.expansion == kNone) {
    core.expansion = static_cast<std::uint32_t>(expansions_.size());
    expansions_.push_back({.best = core.reward, .value = core.reward});
  }
  return expansions_[core.expansion];
}

void Graph::measure(NodeId id, double reward) {
  Core& core = nodes_[index(id)];
  core.state = NodeState::measured;
  core.reward = reward;
  if (core.expansion == kNone) return;
  Expansion& more = expansions_[core.expansion];
  more.best = more.value = reward;
}

void Graph::open(NodeId id, std::uint32_t action_count) {
  WARPATH_CHECK(action_count <= std::numeric_limits<std::uint16_t>::max());
  nodes_[index(id)].opened = true;
  if (action_count > 0) expansion(id).action_count = static_cast<std::uint16_t>(action_count);
}

void Graph::count_live_child(NodeId id, bool more) {
  std::uint32_t& count = expansion(id).live_out;
  more ? ++count : --count;
}

void Graph::reserve(NodeId id) {
  Core& core = nodes_[index(id)];
  if (core.reserved) more_in_flight_.add(id);
  core.reserved = true;
}

void Graph::release(NodeId id) {
  if (more_in_flight_[id] > 0)
    more_in_flight_.remove(id);
  else
    nodes_[index(id)].reserved = false;
}

void Graph::visit(EdgeId id, std::uint32_t times) {
  const NodeId to = target(id);
  Core& core = nodes_[index(to)];
  core.visits += times;
  if (times == 0 || (core.first_in == id && to != kRoot)) return;
  core.other_visits = true;
  other_visits_.add(id, times);
  other_visits_of_.add(to, times);
}

Hash128 Graph::fingerprint() const {
  Hasher h;
  h.add(node_count()).add(edge_count());
  for (std::uint32_t i = 0; i < node_count(); ++i) {
    const Node n = (*this)[NodeId{i}];
    h.add(keys_[i]).add(n.reward).add(n.best).add(n.value).add(n.visits).add(n.in_flight);
    h.add(index(n.first_out)).add(index(n.last_out)).add(index(n.first_in));
    h.add(n.next_action).add(n.action_count).add(n.live_out).add(std::uint32_t{n.depth});
    h.add(static_cast<std::uint32_t>(n.state))
        .add(std::uint32_t{n.opened})
        .add(std::uint32_t{n.live});
  }
  for (std::uint32_t i = 0; i < edge_count(); ++i) {
    const Edge e = (*this)[EdgeId{i}];
    h.add(index(e.source)).add(index(e.target)).add(index(e.next_out)).add(index(e.next_in));
    h.add(std::uint32_t{e.action}).add(static_cast<double>(e.prior.value())).add(e.visits);
  }
  return h.digest();
}

void Graph::put(NodeId id, const Node& node) {
  Core& core = nodes_[index(id)];
  core.reward = node.reward;
  core.visits = id == kRoot ? node.visits : 0;
  core.state = node.state;
  core.opened = node.opened;
  core.live = node.live;
  core.reserved = node.in_flight > 0;
  if (node.in_flight > 1) more_in_flight_.add(id, node.in_flight - 1);
  const bool more = !same_bits(node.best, node.reward) || !same_bits(node.value, node.reward) ||
                    node.live_out > 0 || node.next_action > 0 || node.action_count > 0;
  if (!more) return;
  Expansion& to = expansion(id);
  to.best = node.best;
  to.value = node.value;
  to.live_out = node.live_out;
  to.next_action = static_cast<std::uint16_t>(node.next_action);
  to.action_count = static_cast<std::uint16_t>(node.action_count);
}

std::string Graph::difference(const Rows& rows) const {
  for (std::uint32_t i = 0; i < node_count(); ++i) {
    const Node now = (*this)[NodeId{i}];
    const Node other = rows.node(i);
    const auto named = [&](const char* wrong) { return "node " + std::to_string(i) + wrong; };
    if (now.first_out != other.first_out || now.last_out != other.last_out)
      return named(" to list the edges that leave it");
    if (now.first_in != other.first_in) return named(" to list the edges that enter it");
    if (now.visits != other.visits) return named(" to have the visits of the edges that enter it");
  }
  for (std::uint32_t i = 0; i < edge_count(); ++i) {
    const Edge now = (*this)[EdgeId{i}];
    const Edge other = rows.edge(i);
    if (now.next_out != other.next_out || now.next_in != other.next_in)
      return "edge " + std::to_string(i) + " to be listed by both its ends";
  }
  return {};
}

Graph Graph::from_rows(const Rows& rows, std::string_view place) {
  const auto require = [&](const std::string& name, std::uint64_t number,
                           const std::string& wrong) {
    if (!wrong.empty()) throw bad_input(place, "", name + std::to_string(number) + wrong);
  };
  if (rows.nodes == 0) throw bad_input(place, "", "at least one node");
  if (rows.nodes >= index(kNoNode) || rows.edges >= index(kNoEdge))
    throw bad_input(place, "", "fewer than 2^32 - 1 nodes and edges");
  Graph g;
  g.nodes_.reserve(rows.nodes);
  g.keys_.reserve(rows.nodes);
  for (std::uint32_t i = 0; i < rows.nodes; ++i) {
    const Node node = rows.node(i);
    require("node ", i, misfit(node));
    const Hash128 key = rows.key(i);
    bool created = false;
    const NodeId id = g.find_or_insert(key, node.depth, created);
    if (!created) throw bad_input(place, key.hex(), "every key once");
    g.put(id, node);
  }
  g.links_.reserve(rows.edges);
  g.actions_.reserve(rows.edges);
  for (std::uint32_t i = 0; i < rows.edges; ++i) {
    const Edge e = rows.edge(i);
    require("edge ", i, misfit(e, g.node_count()));
    g.visit(g.add_edge(e.source, e.target, e.action, e.prior.value()), e.visits);
  }
  if (const std::string wrong = g.difference(rows); !wrong.empty())
    throw bad_input(place, "", wrong);
  return g;
}

}  // namespace warpath
