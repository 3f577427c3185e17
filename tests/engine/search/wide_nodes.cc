#include "engine/search/wide_nodes.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "engine/base/rng.h"
#include "register_selections.h"
#include "tests/support/graph_arenas.h"
#include "tests/support/search_options.h"
#include "tests/support/table_space.h"

using namespace warpath;
using doctest::Approx;
using warpath::test::kFails;
using warpath::test::search_options;
using warpath::test::Table;
using warpath::test::TableSpace;

namespace {

TermSums::Term random_term(Rng& rng) {
  const std::uint64_t visits = rng.below(50);
  if (visits == 0) return {};
  if (rng.below(5) == 0) return {.failed = visits};
  const double mean = rng.normal();
  return {.visits = visits, .value = static_cast<double>(visits) * mean, .best = mean + 1};
}

/// Arms of few kinds, with values of which some are equal, and some so near to each other that
/// their scores are.
std::vector<std::optional<Arm>> random_row(Rng& rng, std::size_t count) {
  std::vector<std::optional<Arm>> row(count);
  for (auto& arm : row) {
    if (rng.below(10) == 0) continue;
    double value = 0.125 * static_cast<double>(rng.below(5));
    if (rng.below(2) == 0) value = std::nextafter(value, 1);
    arm = Arm{.value = value,
              .prior = 0.25 * static_cast<double>(rng.below(3)),
              .visits = static_cast<std::uint32_t>(rng.below(4)),
              .in_flight = static_cast<std::uint32_t>(rng.below(2))};
  }
  return row;
}

/// A root of `children` children, of which some fail and the others have `below` each.
Table wide_table(Rng& rng, int children, int below) {
  Table table{.actions = {{}}, .rewards = {0}};
  const auto add = [&](int parent) {
    const int place = static_cast<int>(table.rewards.size());
    table.actions[static_cast<std::size_t>(parent)].push_back(place);
    table.actions.emplace_back();
    table.rewards.push_back(rng.below(10) == 0 ? kFails
                                               : 0.01 * static_cast<double>(rng.below(99)));
    return place;
  };
  for (int i = 0; i < children; ++i) {
    const int child = add(0);
    for (int j = 0; j < below; ++j) add(child);
  }
  return table;
}

/// The child of the root that puct selects when it looks at each; nullopt: the next action.
std::optional<NodeId> best_child(const Search& search, const Options& options) {
  const auto values = to_json(options)["search"];
  const Graph& graph = search.graph();
  const Node& root = graph[NodeId{0}];
  const double sigma = std::max(options.search.sigma_floor, search.state().rewards.deviation());
  double total = 0;
  for (EdgeId e = root.first_out; e != kNoEdge; e = graph[e].next_out)
    total += graph[e].visits + search.in_flight(e);
  const double scale = values["c_puct"].get<double>() * sigma * std::sqrt(total + 1);
  const double prior = BFloat16(1 / static_cast<float>(root.action_count)).value();
  std::optional<NodeId> best;
  double highest = -INFINITY;
  if (root.next_action < root.action_count)
    highest = root.reward - values["rho"].get<double>() * sigma + scale * prior;
  for (EdgeId e = root.first_out; e != kNoEdge; e = graph[e].next_out) {
    const Node& child = graph[graph[e].target];
    if (!child.live) continue;
    const double beta = values["beta"].get<double>();
    const double score = (1 - beta) * child.value + beta * child.best +
                         scale * prior / (1.0 + graph[e].visits + search.in_flight(e));
    if (score > highest) highest = score, best = graph[e].target;
  }
  return best;
}

}  // namespace

TEST_SUITE_BEGIN("wide_nodes");

TEST_CASE("a total is that of its terms, whatever came first") {
  for (const std::size_t count : {1U, 64U, 65U, 4096U, 4097U, 5000U}) {
    CAPTURE(count);
    Rng rng(count, "terms");
    std::vector<TermSums::Term> terms;
    TermSums changed, built;
    for (std::size_t i = 0; i < count; ++i) {
      terms.push_back(random_term(rng));
      changed.set(i, random_term(rng));
    }
    for (const std::uint32_t i : rng.permutation(static_cast<std::uint32_t>(count)))
      changed.set(i, terms[i]);
    TermSums::Term expected;
    double best = -INFINITY;
    for (std::size_t i = 0; i < count; ++i) {
      built.set(i, terms[i]);
      expected.visits += terms[i].visits;
      expected.failed += terms[i].failed;
      expected.value += terms[i].value;
      if (terms[i].visits > 0) best = std::max(best, terms[i].best);
    }
    CHECK(changed.total() == built.total());
    CHECK(built.total().visits == expected.visits);
    CHECK(built.total().failed == expected.failed);
    CHECK(built.total().value == Approx(expected.value).epsilon(1e-12));
    if (expected.visits > 0) CHECK(built.total().best == best);
  }
}

TEST_CASE("among the arms that suffice, a policy that goes by score selects as among all") {
  for (const auto& [name, entry] : registered_selections().entries()) {
    CAPTURE(name);
    const auto policy = entry.make(search_options({{"strategy", "mcgs"}}));
    if (!policy->by_score()) continue;
    for (std::uint64_t seed = 0; seed < 100; ++seed) {
      CAPTURE(seed);
      Rng rng(seed, "row");
      std::vector<std::optional<Arm>> row = random_row(rng, 1 + rng.below(200));
      ArmKinds kinds;
      for (std::size_t i = 0; i < row.size(); ++i) kinds.set(i, row[i]);
      for (int step = 0; step < 20; ++step) {
        const std::size_t at = rng.below(row.size());
        row[at] = random_row(rng, 1).front();
        kinds.set(at, row[at]);
        std::vector<Arm> all, few;
        std::vector<std::size_t> positions;
        for (std::size_t i = 0; i < row.size(); ++i) {
          if (!row[i]) continue;
          all.push_back(*row[i]);
          positions.push_back(i);
        }
        const NodeView view{.total_visits = 1 + rng.below(1000), .own_reward = 0, .sigma = 0.5};
        std::vector<std::uint32_t> sufficient;
        kinds.sufficient(*policy, view, rng, sufficient);
        REQUIRE(sufficient.empty() == all.empty());
        if (all.empty()) continue;
        for (const std::uint32_t position : sufficient) few.push_back(*kinds.at(position));
        CHECK(sufficient[policy->select(few, view, rng)] ==
              positions[policy->select(all, view, rng)]);
      }
    }
  }
}

TEST_CASE(
    "a root of thousands of children is searched by the formulas, before and after a snapshot") {
  constexpr int kChildren = 1500;
  static_assert(kChildren > WideNodes::kMostLooked);
  for (const std::uint64_t in_flight : {1U, 5U}) {
    CAPTURE(in_flight);
    Rng rng(in_flight, "wide");
    const Table table = wide_table(rng, kChildren, 2);
    const Options options = search_options(
        {{"strategy", "mcgs"}, {"widening", "arm"}, {"max_depth", 2}, {"root_noise_weight", 0}});
    TableSpace space(table);
    Search search(space, options, 1, TableSpace::key(0));
    std::vector<Dispatch> out;
    const auto complete_one = [&](Search& of) {
      const auto any = out.begin() + static_cast<std::ptrdiff_t>(rng.below(out.size()));
      of.complete(any->sequence, space.evaluate(any->node));
      out.erase(any);
    };
    while (search.graph().node_count() < 3500) {
      const auto expected = best_child(search, options);
      const auto d = search.next();
      REQUIRE(d.has_value());
      const std::vector<EdgeId> path = search.path_of(d->sequence);
      CHECK(expected.has_value() == (path.size() > 1));
      if (expected && path.size() > 1) CHECK(search.graph()[path[0]].target == *expected);
      out.push_back(*d);
      if (out.size() == in_flight) complete_one(search);
    }
    CHECK(search.violated_invariant() == "");
    while (!out.empty()) complete_one(search);
    const Graph& graph = search.graph();
    CHECK(graph[NodeId{0}].next_action > WideNodes::kMostLooked + 100);
    double sum = graph[NodeId{0}].reward, weight = 1;
    for (EdgeId e = graph[NodeId{0}].first_out; e != kNoEdge; e = graph[e].next_out) {
      const Node& child = graph[graph[e].target];
      const bool measured = child.state == NodeState::measured;
      sum += graph[e].visits * (measured ? child.value : search.state().floor);
      weight += graph[e].visits;
    }
    CHECK(graph[NodeId{0}].value == Approx(sum / weight).epsilon(1e-12));
    Search resumed(space, options, 1, test::graph_of(test::arenas_of(graph), "test"),
                   search.state(), "test");
    for (int step = 0; step < 500; ++step) {
      const auto d = search.next(), again = resumed.next();
      REQUIRE(d.has_value() == again.has_value());
      if (!d) break;
      CHECK(d->node == again->node);
      search.complete(d->sequence, space.evaluate(d->node));
      resumed.complete(again->sequence, space.evaluate(again->node));
    }
    CHECK(search.fingerprint() == resumed.fingerprint());
    CHECK(resumed.violated_invariant() == "");
  }
}

TEST_SUITE_END();
