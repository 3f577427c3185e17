#include "engine/search/graph_boost.h"

#include <doctest/doctest.h>

#include <boost/graph/filtered_graph.hpp>
#include <boost/graph/graph_concepts.hpp>
#include <boost/graph/topological_sort.hpp>
#include <functional>
#include <iterator>
#include <vector>

#include "tests/support/random_graph.h"

using namespace warpath;
using test::random_graph;

TEST_SUITE_BEGIN("graph_boost");

TEST_CASE("the graph models Boost.Graph's concepts") {
  BOOST_CONCEPT_ASSERT((boost::VertexListGraphConcept<Graph>));
  BOOST_CONCEPT_ASSERT((boost::EdgeListGraphConcept<Graph>));
  BOOST_CONCEPT_ASSERT((boost::BidirectionalGraphConcept<Graph>));
  BOOST_CONCEPT_ASSERT((boost::ReadablePropertyMapConcept<NodeIndexMap, NodeId>));
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
    const boost::filtered_graph<Graph, std::function<bool(EdgeId)>> forward(
        g, [&g](EdgeId e) { return g.forward(e); });
    std::vector<NodeId> order;  // reverse topological
    boost::topological_sort(forward, std::back_inserter(order),
                            boost::vertex_index_map(NodeIndexMap{}));
    std::vector<std::size_t> position(g.node_count());
    for (std::size_t i = 0; i < order.size(); ++i) position[index(order[i])] = i;
    CHECK(order.size() == g.node_count());
    for (std::uint32_t e = 0; e < g.edge_count(); ++e) {
      const EdgeId edge{e};
      if (g.forward(edge)) CHECK(position[index(g.source(edge))] > position[index(g.target(edge))]);
    }
  }
}

TEST_SUITE_END();
