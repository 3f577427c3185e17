#pragma once

// Boost.Graph's view of engine/search/graph.h. Only this header and its includers see boost/graph.

#include <boost/graph/graph_traits.hpp>
#include <boost/graph/properties.hpp>
#include <boost/property_map/function_property_map.hpp>
#include <boost/property_map/property_map.hpp>
#include <cstddef>
#include <iterator>
#include <utility>

#include "engine/search/graph.h"

namespace warpath {

/// Iterates over consecutive ids.
template <class Id>
class IdIterator {
 public:
  using iterator_category = std::random_access_iterator_tag;
  using value_type = Id;
  using difference_type = std::ptrdiff_t;
  using pointer = const Id*;
  using reference = Id;

  IdIterator() = default;
  explicit IdIterator(std::uint32_t at) : at_(at) {}

  Id operator*() const { return Id{at_}; }
  Id operator[](difference_type n) const { return *(*this + n); }
  IdIterator& operator+=(difference_type n) {
    return at_ = static_cast<std::uint32_t>(at_ + n), *this;
  }
  IdIterator& operator-=(difference_type n) { return *this += -n; }
  IdIterator& operator++() { return *this += 1; }
  IdIterator& operator--() { return *this += -1; }
  IdIterator operator++(int) { return std::exchange(*this, *this + 1); }
  IdIterator operator--(int) { return std::exchange(*this, *this - 1); }
  friend IdIterator operator+(IdIterator i, difference_type n) { return i += n; }
  friend IdIterator operator+(difference_type n, IdIterator i) { return i += n; }
  friend IdIterator operator-(IdIterator i, difference_type n) { return i -= n; }
  friend difference_type operator-(IdIterator a, IdIterator b) {
    return static_cast<difference_type>(a.at_) - static_cast<difference_type>(b.at_);
  }
  auto operator<=>(const IdIterator&) const = default;

 private:
  std::uint32_t at_ = 0;
};

/// Iterates over a list of edges linked by `Next`.
template <EdgeId Edge::* Next>
class EdgeListIterator {
 public:
  using iterator_category = std::forward_iterator_tag;
  using value_type = EdgeId;
  using difference_type = std::ptrdiff_t;
  using pointer = const EdgeId*;
  using reference = EdgeId;

  EdgeListIterator() = default;
  EdgeListIterator(const Graph& graph, EdgeId at) : graph_(&graph), at_(at) {}

  EdgeId operator*() const { return at_; }
  EdgeListIterator& operator++() { return at_ = (*graph_)[at_].*Next, *this; }
  EdgeListIterator operator++(int) {
    EdgeListIterator before = *this;
    ++*this;
    return before;
  }
  bool operator==(const EdgeListIterator& other) const { return at_ == other.at_; }

 private:
  const Graph* graph_ = nullptr;
  EdgeId at_ = kNoEdge;
};
using OutEdgeIterator = EdgeListIterator<&Edge::next_out>;
using InEdgeIterator = EdgeListIterator<&Edge::next_in>;

}  // namespace warpath

namespace boost {

/// Models VertexListGraph, EdgeListGraph and BidirectionalGraph. Edge descriptors are EdgeId, from
/// which algorithms find source() and target() with the graph.
template <>
struct graph_traits<warpath::Graph> {
  using vertex_descriptor = warpath::NodeId;
  using edge_descriptor = warpath::EdgeId;
  using directed_category = bidirectional_tag;
  using edge_parallel_category = disallow_parallel_edge_tag;
  struct traversal_category : bidirectional_graph_tag,  // NOLINT(readability-identifier-naming)
                              vertex_list_graph_tag,
                              edge_list_graph_tag {};
  using vertex_iterator = warpath::IdIterator<warpath::NodeId>;
  using edge_iterator = warpath::IdIterator<warpath::EdgeId>;
  using out_edge_iterator = warpath::OutEdgeIterator;
  using in_edge_iterator = warpath::InEdgeIterator;
  using adjacency_iterator = void;
  using vertices_size_type = std::size_t;
  using edges_size_type = std::size_t;
  using degree_size_type = std::size_t;
  static vertex_descriptor null_vertex() { return warpath::kNoNode; }
};

}  // namespace boost

namespace warpath {

[[nodiscard]] inline std::size_t num_vertices(const Graph& g) {
  return g.node_count();
}
[[nodiscard]] inline std::size_t num_edges(const Graph& g) {
  return g.edge_count();
}
[[nodiscard]] inline std::pair<IdIterator<NodeId>, IdIterator<NodeId>> vertices(const Graph& g) {
  return {IdIterator<NodeId>(0), IdIterator<NodeId>(g.node_count())};
}
[[nodiscard]] inline std::pair<IdIterator<EdgeId>, IdIterator<EdgeId>> edges(const Graph& g) {
  return {IdIterator<EdgeId>(0), IdIterator<EdgeId>(g.edge_count())};
}
[[nodiscard]] inline NodeId source(EdgeId e, const Graph& g) {
  return g[e].source;
}
[[nodiscard]] inline NodeId target(EdgeId e, const Graph& g) {
  return g[e].target;
}
[[nodiscard]] inline std::pair<OutEdgeIterator, OutEdgeIterator> out_edges(NodeId v,
                                                                           const Graph& g) {
  return {OutEdgeIterator(g, g[v].first_out), OutEdgeIterator(g, kNoEdge)};
}
[[nodiscard]] inline std::pair<InEdgeIterator, InEdgeIterator> in_edges(NodeId v, const Graph& g) {
  return {InEdgeIterator(g, g[v].first_in), InEdgeIterator(g, kNoEdge)};
}
[[nodiscard]] inline std::size_t out_degree(NodeId v, const Graph& g) {
  const auto [first, last] = out_edges(v, g);
  return static_cast<std::size_t>(std::distance(first, last));
}
[[nodiscard]] inline std::size_t in_degree(NodeId v, const Graph& g) {
  const auto [first, last] = in_edges(v, g);
  return static_cast<std::size_t>(std::distance(first, last));
}
[[nodiscard]] inline std::size_t degree(NodeId v, const Graph& g) {
  return out_degree(v, g) + in_degree(v, g);
}

/// boost::vertex_index: the ids as numbers.
struct NodeIndexMap {
  using key_type = NodeId;
  using value_type = std::size_t;
  using reference = std::size_t;
  using category = boost::readable_property_map_tag;
  friend std::size_t get(NodeIndexMap, NodeId v) { return index(v); }
};
[[nodiscard]] inline NodeIndexMap get(boost::vertex_index_t, const Graph&) {
  return {};
}
[[nodiscard]] inline std::size_t get(boost::vertex_index_t, const Graph&, NodeId v) {
  return index(v);
}

/// A member of every node or edge as a readable property map: `node_map(graph, &Node::visits)`.
/// `graph` must outlive it.
template <class T>
[[nodiscard]] auto node_map(const Graph& graph, T Node::* member) {
  return boost::make_function_property_map<NodeId>(
      [&graph, member](NodeId v) { return graph[v].*member; });
}
template <class T>
[[nodiscard]] auto edge_map(const Graph& graph, T Edge::* member) {
  return boost::make_function_property_map<EdgeId>(
      [&graph, member](EdgeId e) { return graph[e].*member; });
}

}  // namespace warpath

namespace boost {
template <>
struct property_map<warpath::Graph, vertex_index_t> {
  using type = warpath::NodeIndexMap;
  using const_type = warpath::NodeIndexMap;
};
}  // namespace boost
