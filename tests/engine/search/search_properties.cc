#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <vector>

#include "tests/support/graph_arenas.h"
#include "tests/support/search_options.h"
#include "tests/support/table_space.h"

using namespace warpath;
using warpath::test::random_table;
using warpath::test::reachable_places;
using warpath::test::search_options;
using warpath::test::Table;
using warpath::test::TableSpace;

namespace {

Options quiet_options() {
  return search_options({{"strategy", "mcgs"}, {"root_noise_weight", 0}});
}

/// Keeps `width` evaluations in flight and completes them in random order until nothing is left or
/// `budget` is spent. Returns the places dispatched, in order.
std::vector<int> exhaust(
    Search& search, TableSpace& space, int width, Rng& rng, std::size_t budget) {
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

/// A random tree of `places` places: no transposition, no failure.
Table random_tree(Rng& rng, int places) {
  Table table{.actions = {{}}, .rewards = {0}};
  for (int v = 1; v < places; ++v) {
    table.actions[rng.below(static_cast<std::uint64_t>(v))].push_back(v);
    table.actions.emplace_back();
    table.rewards.push_back(rng.normal());
  }
  return table;
}

/// The formulas of docs/search.md written down once more, for trees with equal priors.
struct Oracle {
  const Search& search;
  const TableSpace& space;
  const Table& table;
  const Options& options;
  const nlohmann::json values = to_json(options)["search"];

  [[nodiscard]] double number(const char* key) const { return values.at(key).get<double>(); }
  [[nodiscard]] std::size_t actions(NodeId v) const {
    return table.actions[static_cast<std::size_t>(space.place(v))].size();
  }
  /// An untried action can be reached from `v`.
  [[nodiscard]] bool leads_on(NodeId v) const {
    const Graph& graph = search.graph();
    if (graph[v].state != NodeState::measured) return false;
    bool on = graph[v].next_action < actions(v);
    for (EdgeId e = graph[v].first_out; e != kNoEdge; e = graph[e].next_out)
      on = on || leads_on(graph[e].target);
    return on;
  }
  /// Nodes from the root to the one whose next action is tried now; empty if there is none.
  [[nodiscard]] std::vector<NodeId> descent() const {
    const Graph& graph = search.graph();
    const double sigma = std::max(options.search.sigma_floor, search.state().rewards.deviation());
    std::vector<NodeId> path;
    for (NodeId v{0}; v != kNoNode && leads_on(v);) {
      path.push_back(v);
      double t = 0, children = 0;
      for (EdgeId e = graph[v].first_out; e != kNoEdge; e = graph[e].next_out, ++children)
        t += graph[e].visits + search.in_flight(e);
      const double scale = number("c_puct") * sigma * std::sqrt(t + 1) *
                           BFloat16(1 / static_cast<float>(actions(v))).value();
      const bool untried = graph[v].next_action < actions(v);
      const bool gated = options.search.widening == "gated";
      const double visits = graph[v].visits + graph[v].in_flight;
      if (gated && untried &&
          children < number("widening_k") * std::pow(visits, number("widening_alpha")))
        break;
      double highest = untried && !gated ? graph[v].reward - number("rho") * sigma + scale : -1e300;
      NodeId down = kNoNode;
      for (EdgeId e = graph[v].first_out; e != kNoEdge; e = graph[e].next_out) {
        const Node& child = graph[graph[e].target];
        const double q = (1 - number("beta")) * child.value + number("beta") * child.best;
        const double score = q + scale / (1.0 + graph[e].visits + search.in_flight(e));
        if (leads_on(graph[e].target) && score > highest) highest = score, down = graph[e].target;
      }
      v = down;
    }
    return path;
  }
};

/// A search whose root has another reward than 0.
Search from_root_worth(double reward,
                       TableSpace& space,
                       const Options& options,
                       std::uint64_t seed) {
  const Search usual(space, options, seed, TableSpace::key(0));
  test::Arenas arenas = test::arenas_of(usual.graph());
  Search::State state = usual.state();
  arenas.nodes[0].reward = arenas.nodes[0].best = arenas.nodes[0].value = reward;
  state.rewards.mean = state.floor = reward;
  return Search(space, options, seed, test::graph_of(arenas, "root"), state, "root");
}

}  // namespace

TEST_SUITE_BEGIN("search_properties");

TEST_CASE(
    "a budget that covers a small graph measures each node once, proves it, and finds the best") {
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
        Options options = search_options({{"strategy", "mcgs"}});
        options.search.widening = widening;
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

TEST_CASE(
    "only the values on the path change, to what the backup says, and recomputing changes "
    "nothing") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "values");
    const Table table = random_table(rng, 20, 0.15);
    TableSpace space(table);
    Search search(space, quiet_options(), seed, TableSpace::key(0));
    const Graph& graph = search.graph();
    while (const auto d = search.next()) {
      std::vector<double> expected;
      for (std::uint32_t i = 0; i < graph.node_count(); ++i)
        expected.push_back(graph[NodeId{i}].value);
      const std::vector<EdgeId> path = search.path_of(d->sequence);
      const Evaluation evaluation = space.evaluate(d->node);
      search.complete(d->sequence, evaluation);
      expected[index(d->node)] = evaluation.ok ? evaluation.reward : 0;
      for (auto e = path.rbegin(); e != path.rend(); ++e) {
        const NodeId v = graph[*e].source;
        double sum = graph[v].reward, weight = 1;
        for (EdgeId out = graph[v].first_out; out != kNoEdge; out = graph[out].next_out) {
          const Node& child = graph[graph[out].target];
          const double value = child.state == NodeState::failed
                                   ? search.state().floor
                                   : expected[index(graph[out].target)];
          sum += graph[out].visits * value;
          weight += graph[out].visits;
        }
        expected[index(v)] = sum / weight;
      }
      for (std::uint32_t i = 0; i < graph.node_count(); ++i)
        CHECK(graph[NodeId{i}].value == expected[i]);
    }
  }
}

TEST_CASE("on a tree a value is the mean of all rewards below, whatever beta is") {
  for (std::uint64_t seed = 0; seed < 30; ++seed) {
    for (const double beta : {0.0, 0.75, 1.0}) {
      CAPTURE(seed);
      CAPTURE(beta);
      Rng rng(seed, "tree");
      const Table table = random_tree(rng, 60);
      const Options options =
          search_options({{"strategy", "mcgs"}, {"root_noise_weight", 0}, {"beta", beta}});
      TableSpace space(table);
      Search search(space, options, seed, TableSpace::key(0));
      const Graph& graph = search.graph();
      while (const auto d = search.next()) {
        search.complete(d->sequence, space.evaluate(d->node));
        std::vector<double> sum(graph.node_count()), count(graph.node_count());
        for (std::uint32_t i = graph.node_count(); i-- > 0;) {  // children have higher ids
          sum[i] += graph[NodeId{i}].reward;
          count[i] += 1;
          CHECK(graph[NodeId{i}].value == doctest::Approx(sum[i] / count[i]).epsilon(1e-12));
          CHECK(graph[NodeId{i}].visits == count[i]);
          if (i == 0) continue;
          const std::uint32_t parent = index(graph[graph[NodeId{i}].first_in].source);
          sum[parent] += sum[i];
          count[parent] += count[i];
        }
      }
    }
  }
}

TEST_CASE("a playout goes where the formulas say") {
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "tree");
    // a tree: every action leads to a new node, so a path is one descent
    const Table table = random_tree(rng, 60);
    Options options = quiet_options();
    options.search.widening = seed % 2 == 0 ? "gated" : "arm";
    TableSpace space(table);
    Search search(space, options, seed, TableSpace::key(0));
    std::vector<Dispatch> out;
    for (int step = 0; step < 200; ++step) {
      if (out.size() == 3 || (!out.empty() && rng.below(2) == 0)) {
        search.complete(out.front().sequence, space.evaluate(out.front().node));
        out.erase(out.begin());
        continue;
      }
      const std::vector<NodeId> expected = Oracle{search, space, table, options}.descent();
      const auto d = search.next();
      CHECK(d.has_value() == !expected.empty());
      if (!d) break;
      std::vector<NodeId> descended{NodeId{0}};
      for (const EdgeId e : search.path_of(d->sequence))
        descended.push_back(search.graph()[e].target);
      descended.pop_back();
      CHECK(descended == expected);
      out.push_back(*d);
    }
  }
}

TEST_CASE("one evaluation at a time is a function of the seed") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "table");
    const Table table = random_table(rng, 40, 0.1);
    std::vector<Hash128> fingerprints;
    for (int repeat = 0; repeat < 2; ++repeat) {
      TableSpace space(table);
      Search search(space, Options{}, seed, TableSpace::key(0));
      Rng order(seed, "order", static_cast<std::uint64_t>(repeat));
      exhaust(search, space, 1, order, SIZE_MAX);
      fingerprints.push_back(search.fingerprint());
    }
    CHECK(fingerprints[0] == fingerprints[1]);
  }
}

TEST_CASE("the reward's scale and origin do not change what is tried") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "table");
    const Table table = random_table(rng, 40, 0.1);
    Table scaled = table;
    for (double& r : scaled.rewards) r = 4 * r + 0.5;
    Options options = quiet_options();
    options.search.sigma_floor = 1e-9;
    std::vector<std::vector<int>> tried;
    for (const Table* t : {&table, static_cast<const Table*>(&scaled)}) {
      TableSpace space(*t);
      Search search = from_root_worth(t->rewards[0], space, options, seed);
      Rng order(seed, "order");
      tried.push_back(exhaust(search, space, 2, order, SIZE_MAX));
    }
    CHECK(tried[0] == tried[1]);
  }
}

TEST_SUITE_END();
