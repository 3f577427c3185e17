#include "engine/search/graph_boost.h"

#include <doctest/doctest.h>

#include <boost/graph/breadth_first_search.hpp>
#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/graphviz.hpp>
#include <boost/graph/strong_components.hpp>
#include <boost/graph/topological_sort.hpp>
#include <iterator>
#include <set>
#include <sstream>
#include <vector>

#include "engine/base/rng.h"

using namespace warpath;

namespace {

/// A random graph as a search makes it: node i > 0 is made by an earlier node, one deeper, then
/// more edges are added.
Graph random_graph(std::uint64_t seed, std::uint32_t nodes, std::uint32_t more_edges) {
  Rng rng(seed, "graph");
  Graph g;
  bool created = false;
  g.find_or_insert({.high = 0, .low = 0}, 0, created);
  for (std::uint32_t i = 1; i < nodes; ++i) {
    const NodeId parent{static_cast<std::uint32_t>(rng.below(i))};
    const NodeId child = g.find_or_insert({.high = 0, .low = i},
                                          static_cast<std::uint16_t>(g[parent].depth + 1), created);
    g.add_edge(parent, child, 0, 1);
  }
  for (std::uint32_t i = 0; i < more_edges; ++i) {
    const NodeId a{static_cast<std::uint32_t>(rng.below(nodes))};
    const NodeId b{static_cast<std::uint32_t>(rng.below(nodes))};
    if (g.find_edge(a, b) == kNoEdge) g.add_edge(a, b, i, 1);
  }
  return g;
}

/// reachable[a][b] by Warshall's algorithm.
std::vector<std::vector<bool>> closure(const Graph& g) {
  const std::size_t n = g.node_count();
  std::vector<std::vector<bool>> r(n, std::vector<bool>(n));
  for (std::size_t i = 0; i < n; ++i) r[i][i] = true;
  for (std::uint32_t e = 0; e < g.edge_count(); ++e)
    r[index(g[EdgeId{e}].source)][index(g[EdgeId{e}].target)] = true;
  for (std::size_t k = 0; k < n; ++k) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = 0; j < n; ++j) r[i][j] = r[i][j] || (r[i][k] && r[k][j]);
    }
  }
  return r;
}

}  // namespace

TEST_SUITE_BEGIN("graph_boost");

TEST_CASE("the graph models Boost.Graph's concepts") {
  BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<Graph>));
  BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<Graph>));
  BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<Graph>));
  BOOST_CONCEPT_ASSERT((boost::ReadablePropertyMapConcept<NodeIndexMap, NodeId>));
  BOOST_CONCEPT_ASSERT((boost::ReadablePropertyMapConcept<EdgeIndexMap, EdgeId>));
  const Graph g = random_graph(1, 10, 10);
  std::size_t out = 0, in = 0;
  for (auto [v, last] = vertices(g); v != last; ++v)
    out += out_degree(*v, g), in += in_degree(*v, g);
  CHECK(out == num_edges(g));
  CHECK(in == num_edges(g));
}

TEST_CASE("the forward edges sort topologically whatever cycles the graph has") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    const Graph g = random_graph(seed, 40, 80);
    const boost::filtered_graph<Graph, ForwardEdges> forward(g, ForwardEdges{&g});
    std::vector<NodeId> order;  // reverse topological
    boost::topological_sort(forward, std::back_inserter(order),
                            boost::vertex_index_map(NodeIndexMap{}));
    std::vector<std::size_t> position(g.node_count());
    for (std::size_t i = 0; i < order.size(); ++i) position[index(order[i])] = i;
    CHECK(order.size() == g.node_count());
    for (std::uint32_t e = 0; e < g.edge_count(); ++e) {
      const Edge& edge = g[EdgeId{e}];
      if (g.forward(edge)) CHECK(position[index(edge.source)] > position[index(edge.target)]);
    }
  }
}

TEST_CASE("strong components are the classes of mutual reachability") {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    const Graph g = random_graph(seed, 20, 15);
    std::vector<int> component(g.node_count());
    boost::strong_components(g,
                             boost::make_iterator_property_map(component.begin(), NodeIndexMap{}),
                             boost::vertex_index_map(NodeIndexMap{}));
    const auto reach = closure(g);
    for (std::size_t a = 0; a < component.size(); ++a) {
      for (std::size_t b = 0; b < component.size(); ++b) {
        CHECK((component[a] == component[b]) == (reach[a][b] && reach[b][a]));
      }
    }
  }
}

TEST_CASE("breadth-first search reaches every node from the root") {
  const Graph g = random_graph(3, 50, 50);
  std::vector<int> distance(g.node_count(), -1);
  distance[0] = 0;
  const auto distances = boost::make_iterator_property_map(distance.begin(), NodeIndexMap{});
  boost::breadth_first_search(g, NodeId{0},
                              boost::vertex_index_map(NodeIndexMap{})
                                  .visitor(boost::make_bfs_visitor(
                                      boost::record_distances(distances, boost::on_tree_edge()))));
  for (std::uint32_t i = 0; i < g.node_count(); ++i) {
    CHECK(distance[i] >= 0);
    CHECK(distance[i] <= g[NodeId{i}].depth);  // the creating path is one way there
  }
}

TEST_CASE("GraphViz text names every node and edge with its property") {
  Graph g = random_graph(4, 3, 0);
  g[NodeId{2}].value = 0.5;
  std::ostringstream text;
  boost::write_graphviz(text, g, boost::make_label_writer(node_map(g, &Node::value)),
                        boost::make_label_writer(edge_map(g, &Edge::visits)),
                        boost::default_writer(), NodeIndexMap{});
  CHECK(text.str().find("2[label=0.5]") != std::string::npos);
  CHECK(text.str().find("->2 ") != std::string::npos);
}

TEST_SUITE_END();
