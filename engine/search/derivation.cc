#include "engine/search/derivation.h"

#include <algorithm>
#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/dominator_tree.hpp>
#include <boost/graph/strong_components.hpp>

#include "engine/search/graph_boost.h"

namespace warpath {
namespace {

/// `values` ([nodes]) as a property map of the nodes.
template <class T>
auto by_node(std::vector<T>& values) {
  return boost::make_iterator_property_map(values.begin(), NodeIndexMap{});
}

}  // namespace

std::vector<std::vector<NodeId>> cycles(const Graph& graph) {
  std::vector<std::size_t> component(graph.node_count());
  const std::size_t count =
      boost::strong_components(graph, by_node(component), boost::vertex_index_map(NodeIndexMap{}));
  std::vector<std::vector<NodeId>> out(count);
  for (auto [v, last] = vertices(graph); v != last; ++v) out[component[index(*v)]].push_back(*v);
  std::erase_if(out, [](const std::vector<NodeId>& nodes) { return nodes.size() < 2; });
  std::ranges::sort(out, [](const std::vector<NodeId>& a, const std::vector<NodeId>& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() < b.front();
  });
  return out;
}

std::vector<EdgeId> shortest_derivation(const Graph& graph, NodeId node) {
  std::vector<EdgeId> came_by(graph.node_count(), kNoEdge);
  const auto visitor = boost::make_bfs_visitor(
      boost::record_edge_predecessors(by_node(came_by), boost::on_tree_edge()));
  boost::breadth_first_search(graph, kRoot,
                              boost::vertex_index_map(NodeIndexMap{}).visitor(visitor));
  std::vector<EdgeId> out;
  for (NodeId at = node; came_by[index(at)] != kNoEdge; at = graph[out.back()].source)
    out.push_back(came_by[index(at)]);
  std::ranges::reverse(out);
  return out;
}

std::vector<Dominator> dominators(const Graph& graph, NodeId node) {
  std::vector<NodeId> parent(graph.node_count(), kNoNode);  // in the tree of dominators
  boost::lengauer_tarjan_dominator_tree(graph, kRoot, by_node(parent));
  const auto dominates = [&](NodeId v, NodeId other) {
    while (other != v && other != kNoNode) other = parent[index(other)];
    return other == v;
  };
  std::vector<Dominator> out;
  for (NodeId at = node; parent[index(at)] != kNoNode; at = parent[index(at)]) {
    Dominator& dominator = out.emplace_back(Dominator{.node = at, .entries = {}});
    for (auto [e, last] = in_edges(at, graph); e != last; ++e) {
      const NodeId from = graph[*e].source;
      const bool derived = from == kRoot || parent[index(from)] != kNoNode;
      if (derived && !dominates(at, from)) dominator.entries.push_back(*e);
    }
  }
  std::ranges::reverse(out);
  return out;
}

}  // namespace warpath
