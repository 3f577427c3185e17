#include "engine/search/search_check.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

#include "engine/search/search_backup.h"
#include "engine/search/search_live.h"

namespace warpath {
namespace {

std::string text(NodeId id) {
  return "node " + std::to_string(index(id));
}
std::string text(EdgeId id) {
  return "edge " + std::to_string(index(id));
}
bool in_range(const Graph& graph, NodeId id) {
  return index(id) < graph.node_count();
}

/// Depths, creating edges and states: the shape of the graph.
std::string check_shape(const Graph& graph) {
  if (graph.node_count() == 0 || graph[NodeId{0}].state != NodeState::measured ||
      graph[NodeId{0}].depth != 0) {
    return "node 0 is not a measured root at depth 0";
  }
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    const Node& n = graph[NodeId{i}];
    const auto named = [&](const char* wrong) { return text(NodeId{i}) + wrong; };
    if (i > 0 && (n.first_in == kNoEdge || graph.depth(graph.source(n.first_in)) + 1 != n.depth))
      return named(" is not one deeper than the node that made it");
    if (n.next_action > n.action_count || (!n.opened && n.action_count > 0))
      return named(" has tried more actions than it has");
    if (n.state != NodeState::measured && n.first_out != kNoEdge)
      return named(" has children though it was never expanded");
    if (n.state != NodeState::measured &&
        (n.opened || n.reward != 0 || n.best != 0 || n.value != 0))
      return named(" has values though it is not measured");
  }
  for (std::uint32_t i = 0; i < graph.edge_count(); ++i) {
    const EdgeId e{i};
    if (graph.action(e) < kGraft && graph.action(e) >= graph.action_count(graph.source(e)))
      return text(e) + " has an action that its source lacks";
    if (!graph.forward(e) && graph.visits(e) != 0)
      return text(e) + " is not forward but was descended";
  }
  // the last source of an edge to each node
  std::vector<NodeId> joined_from(graph.node_count(), kNoNode);
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    for (const Graph::Out& out : graph.out(NodeId{i})) {
      if (std::exchange(joined_from[index(out.target)], NodeId{i}) == NodeId{i})
        return text(NodeId{i}) + " and " + text(out.target) + " are joined twice";
    }
  }
  return "";
}

/// Evaluations in flight, and O(v) against their paths.
std::string check_pending(const Graph& graph, const Search::State& state) {
  std::vector<std::uint32_t> node_in_flight(graph.node_count());
  std::vector<char> dispatched(graph.node_count());
  std::uint64_t least_sequence = 0;
  for (const auto& [dispatch, path] : state.pending) {
    const std::string name = "dispatch " + std::to_string(dispatch.sequence);
    if (dispatch.sequence < least_sequence || dispatch.sequence >= state.next_sequence)
      return name + " is out of sequence";
    least_sequence = dispatch.sequence + 1;
    if (!in_range(graph, dispatch.node) || graph[dispatch.node].state != NodeState::pending)
      return name + " awaits no pending node";
    if (std::exchange(dispatched[index(dispatch.node)], 1) != 0) return name + " repeats a node";
    NodeId at{0};
    ++node_in_flight[0];
    for (const EdgeId e : path) {
      if (index(e) >= graph.edge_count() || graph[e].source != at)
        return name + " has a broken path";
      if (!graph.forward(e)) return text(e) + " is not forward but was descended";
      at = graph[e].target;
      ++node_in_flight[index(at)];
    }
    if (path.empty() || at != dispatch.node || graph[path.back()].source != dispatch.parent ||
        graph[path.back()].action != dispatch.action) {
      return name + " has a path that does not lead to its node";
    }
  }
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    if (graph.state(NodeId{i}) == NodeState::pending && dispatched[i] == 0)
      return text(NodeId{i}) + " is pending but not in flight";
    if (graph.in_flight(NodeId{i}) != node_in_flight[i])
      return text(NodeId{i}) + " has a wrong in_flight";
  }
  return {};
}

/// N(v) = 1 + sum of N(v,a) for evaluated nodes; completed playouts at the root.
std::string check_visits(const Graph& graph, const Search::State& state) {
  std::vector<std::uint64_t> visits(graph.node_count());
  for (std::uint32_t i = 0; i < graph.edge_count(); ++i)
    visits[index(graph.source(EdgeId{i}))] += graph.visits(EdgeId{i});
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    if (graph.visits(NodeId{i}) !=
        visits[i] + (graph.state(NodeId{i}) == NodeState::pending ? 0 : 1))
      return text(NodeId{i}) + " has visits that are not 1 + those of its edges";
  }
  if (graph[NodeId{0}].visits != state.playouts + 1)
    return "the root's visits are not 1 + the completed playouts";
  if (state.playouts + state.pending.size() != state.next_sequence)
    return "dispatches are not playouts plus those in flight";
  return {};
}

std::string check_live(const Graph& graph, const LiveFlags& flags) {
  std::vector<std::uint32_t> live_out(graph.node_count());
  for (std::uint32_t i = 0; i < graph.edge_count(); ++i) {
    const EdgeId e{i};
    if (graph.forward(e) && graph.live(graph.target(e))) ++live_out[index(graph.source(e))];
  }
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    const Node& n = graph[NodeId{i}];
    if (n.live_out != live_out[i]) return text(NodeId{i}) + " has a wrong live_out";
    if (n.live != flags.expected(n)) return text(NodeId{i}) + " has a wrong live flag";
  }
  return {};
}

/// B from scratch, M within the rewards, and the summaries of all rewards.
std::string check_values(const Graph& graph, const Search::State& state) {
  const std::vector<double> best = reachable_best(graph);
  double floor = graph[NodeId{0}].reward;
  NodeId champion{0};
  std::uint64_t measured = 0;
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    const NodeId n{i};
    if (graph.best(n) != best[i])
      return text(n) + " has a best that is not the best reachable reward";
    if (graph.state(n) != NodeState::measured) continue;
    ++measured;
    floor = std::min(floor, graph.reward(n));
    if (graph.reward(n) > graph.reward(champion)) champion = n;
  }
  if (state.best != champion) return "best is not the lowest node of highest reward";
  if (state.floor != floor) return "floor is not the lowest measured reward";
  if (state.rewards.count != measured || !std::isfinite(state.rewards.mean) ||
      !std::isfinite(state.rewards.m2) || state.rewards.m2 < 0) {
    return "rewards do not summarise the measured nodes";
  }
  const double highest = graph[champion].reward;
  const double slack = 1e-9 * (1 + std::abs(highest) + std::abs(floor));
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    const double value = graph.value(NodeId{i});
    if (graph.state(NodeId{i}) == NodeState::measured &&
        !(value >= floor - slack && value <= highest + slack)) {
      return text(NodeId{i}) + " has a value outside the measured rewards";
    }
  }
  return {};
}

}  // namespace

std::string violated_search_invariant(const Graph& graph,
                                      const Search::State& state,
                                      const LiveFlags& live) {
  std::string violated = check_shape(graph);
  if (violated.empty()) violated = check_pending(graph, state);
  if (violated.empty()) violated = check_visits(graph, state);
  if (violated.empty()) violated = check_live(graph, live);
  if (violated.empty()) violated = check_values(graph, state);
  return violated;
}

std::string violated_in_flight(const Counts<EdgeId>& edges,
                               const Search::State& state,
                               std::uint64_t counted) {
  std::map<EdgeId, std::uint32_t> expected;
  for (const Search::State::Pending& pending : state.pending) {
    if (pending.dispatch.sequence >= counted) continue;
    for (const EdgeId e : pending.path) ++expected[e];
  }
  for (const auto& [edge, count] : expected) {
    if (edges[edge] != count) return text(edge) + " has a wrong in_flight";
  }
  if (edges.size() != expected.size()) return "an edge that is on no path has an in_flight";
  return {};
}

}  // namespace warpath
