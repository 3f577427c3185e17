#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "engine/options.h"
#include "engine/search.h"
#include "tests/support/table_space.h"

using namespace warpath;
using warpath::test::Table;
using warpath::test::TableSpace;
using warpath::test::random_table;

namespace {

SearchOptions quiet_options() {
  SearchOptions options;
  options.root_noise_weight = 0;
  return options;
}

/// Places that evaluations can reach: from the root through places that are measured.
std::set<int> reachable_places(const Table& table) {
  std::set<int> seen{0};
  std::vector<int> stack{0};
  while (!stack.empty()) {
    const auto v = static_cast<std::size_t>(stack.back());
    stack.pop_back();
    if (std::isnan(table.rewards[v])) continue;
    for (const int target : table.actions[v]) {
      if (target != test::kIllegal && seen.insert(target).second) stack.push_back(target);
    }
  }
  return seen;
}

/// Keeps `width` evaluations in flight and completes them in random order until nothing is left or `budget` is spent.
/// Returns the places dispatched, in order.
std::vector<int> exhaust(Search& search, TableSpace& space, int width, Rng& rng, std::size_t budget) {
  std::vector<int> dispatched;
  std::vector<Dispatch> out;
  for (;;) {
    while (static_cast<int>(out.size()) < width && dispatched.size() < budget) {
      const auto d = search.next();
      if (!d) break;
      dispatched.push_back(space.place(d->node));
      out.push_back(*d);
    }
    if (out.empty()) return dispatched;
    const auto i = static_cast<std::ptrdiff_t>(rng.below(out.size()));
    const Dispatch d = out[static_cast<std::size_t>(i)];
    out.erase(out.begin() + i);
    search.complete(d.sequence, space.evaluate(d.node));
  }
}

/// Highest reward reachable from each node over every edge, by one search a node.
std::vector<double> brute_force_best(const Graph& graph) {
  std::vector<double> best(graph.node_count(), 0);
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) {
    if (graph[NodeId{i}].state != NodeState::measured) continue;
    best[i] = graph[NodeId{i}].reward;
    std::set<NodeId> seen{NodeId{i}};
    std::vector<NodeId> stack{NodeId{i}};
    while (!stack.empty()) {
      const NodeId v = stack.back();
      stack.pop_back();
      if (graph[v].state == NodeState::measured) best[i] = std::max(best[i], graph[v].reward);
      for (EdgeId e = graph[v].first_out; e != kNoEdge; e = graph[e].next_out) {
        if (seen.insert(graph[e].target).second) stack.push_back(graph[e].target);
      }
    }
  }
  return best;
}

std::vector<double> best_of_nodes(const Graph& graph) {
  std::vector<double> best;
  for (std::uint32_t i = 0; i < graph.node_count(); ++i) best.push_back(graph[NodeId{i}].best);
  return best;
}

}  // namespace

TEST_SUITE_BEGIN("search_properties");

TEST_CASE("a budget that covers a small graph measures each node once, proves it, and finds the best") {
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "table");
    const Table table = random_table(rng, 10, 0.2);
    const std::set<int> reachable = reachable_places(table);
    double best = 0;
    for (const int v : reachable) {
      const double r = table.rewards[static_cast<std::size_t>(v)];
      if (!std::isnan(r)) best = std::max(best, r);
    }
    for (const std::string widening : {"arm", "gated", "all"}) {
      for (const int width : {1, 3, 8}) {
        CAPTURE(widening);
        CAPTURE(width);
        SearchOptions options;
        options.widening = widening;
        TableSpace space(table);
        Search search(space, options, seed, TableSpace::key(0));
        std::vector<int> dispatched = exhaust(search, space, width, rng, SIZE_MAX);
        CHECK(search.idle() == Idle::exhausted);
        std::sort(dispatched.begin(), dispatched.end());
        dispatched.insert(dispatched.begin(), 0);
        CHECK(dispatched == std::vector<int>(reachable.begin(), reachable.end()));
        CHECK(search.graph()[search.best()].reward == best);
        CHECK(search.graph()[NodeId{0}].best == best);
        CHECK(search.violated_invariant() == "");
      }
    }
  }
}

TEST_CASE("best is the brute-force maximum over everything reachable after every step") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "cyclic");
    const Table table = random_table(rng, 24, 0.15);
    TableSpace space(table);
    Search search(space, quiet_options(), seed, TableSpace::key(0));
    while (const auto d = search.next()) {
      CHECK(best_of_nodes(search.graph()) == brute_force_best(search.graph()));
      search.complete(d->sequence, space.evaluate(d->node));
      CHECK(best_of_nodes(search.graph()) == brute_force_best(search.graph()));
    }
  }
}

TEST_SUITE_END();
