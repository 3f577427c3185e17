#include "engine/search/strategy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <typeindex>
#include <utility>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/search/forest.h"
#include "engine/search/search.h"
#include "register_strategies.h"
#include "runners/replay/point_space.h"
#include "runners/replay/virtual_lab.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/graph_arenas.h"
#include "tests/support/small_space.h"
#include "tests/support/table_space.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::small_space;
namespace fs = std::filesystem;

TEST_SUITE_BEGIN("strategies");

namespace {

std::vector<std::string> names() {
  const StrategyRegistry& registry = registered_strategies();
  std::vector<std::string> out{"mcgs"};
  for (const auto& [name, entry] : registry.entries()) out.push_back(name);
  return out;
}

Options with(const std::string& strategy) {
  Options options;
  options.search.strategy = strategy;
  return options;
}

/// Four tunables of six values; the points that `fails` names, about a half, do not compile.
RecordedSpace failing_where(const std::function<bool(const RecordedSpace::Row&)>& fails) {
  const RecordedSpace whole = small_space(4, 6);
  std::vector<RecordedSpace::Axis> axes;
  for (std::size_t a = 0; a < whole.axes(); ++a) axes.push_back(whole.axis(a));
  std::vector<RecordedSpace::Row> rows = whole.rows();
  std::size_t failing = 0;
  for (RecordedSpace::Row& row : rows) {
    if (!fails(row)) continue;
    row.status = Status::compile_error;
    ++failing;
  }
  CHECK(9 * failing > 4 * rows.size());
  return {"half", "a device", std::move(axes), std::move(rows), "half"};
}

bool too_large_together(const RecordedSpace::Row& row) {
  int sum = 0;
  for (const Level level : row.point) sum += level;
  return sum >= 10;
}

/// What its strategy knows.
std::string kept_of(Search& search) {
  StrategyState state;
  search.keep(state);
  return state.take();
}

}  // namespace

TEST_CASE("every strategy evaluates each point once, to the last, with any number under way") {
  const RecordedSpace space = small_space();
  for (const std::string& name : names()) {
    for (const std::size_t width : {1U, 3U}) {
      for (std::uint64_t seed = 1; seed <= 3; ++seed) {
        CAPTURE(name);
        CAPTURE(width);
        CAPTURE(seed);
        const Options options = with(name);
        std::vector<Level> start;
        for (std::uint64_t s = seed;
             start.empty() || space.rows()[space.find(start)].status != Status::ok; ++s)
          start = first_point(options, space, s);
        PointSpace points(space, start);
        Search search(points, options, seed, points.key(NodeId{0}));
        std::set<std::uint32_t> rows{space.find(start)};
        std::vector<Dispatch> flights;
        Rng order(seed, "order");
        for (;;) {
          while (flights.size() < width) {
            const auto d = search.next();
            if (!d && search.idle() != Idle::none) break;
            if (!d) continue;
            CHECK(rows.insert(points.row(d->node)).second);
            flights.push_back(*d);
          }
          if (flights.empty()) break;
          const std::size_t at = order.below(flights.size());
          const RecordedSpace::Row& row = space.rows()[points.row(flights[at].node)];
          const bool ok = row.status == Status::ok;
          search.complete(flights[at].sequence,
                          {.ok = ok, .reward = ok ? std::log(1e6 / row.time_ns) : 0});
          flights.erase(flights.begin() + static_cast<std::ptrdiff_t>(at));
        }
        CHECK(search.violated_invariant() == "");
        CHECK(search.idle() == Idle::exhausted);
        CHECK(rows.size() == space.rows().size());
      }
    }
  }
}

TEST_CASE(
    "every strategy keeps the invariants on graphs without tunables, cycles and failures "
    "included") {
  for (const std::string& name : names()) {
    for (std::uint64_t seed = 1; seed <= 6; ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      Rng rng(seed, "table");
      const test::Table table = test::random_table(rng, 12, 0.2);
      test::TableSpace space(table);
      Search search(space, with(name), seed, test::TableSpace::key(0));
      for (int i = 0; i < 40; ++i) {
        const auto d = search.next();
        if (!d) break;
        search.complete(d->sequence, space.evaluate(d->node));
        REQUIRE(search.violated_invariant() == "");
      }
    }
  }
}

TEST_CASE("a run of every strategy is the same again and spends its whole budget") {
  const RecordedSpace space = small_space(4, 4);
  for (const std::string& name : names()) {
    CAPTURE(name);
    const LabSettings lab{.seed = 5, .budget = 80};
    const LabRun a = run_lab(space, with(name), lab);
    const LabRun b = run_lab(space, with(name), lab);
    CHECK(a.best_by_evaluation(1) == b.best_by_evaluation(1));
    CHECK(a.evaluations == 80);
  }
}

TEST_CASE("a session of every strategy that stops half way continues to the same graph") {
  for (const std::string& name : names()) {
    CAPTURE(name);
    Options options = test::small_options(16);
    options.search.strategy = name;
    options.search.window = 1;  // the end of a budget is then a place like any other
    const test::TemporaryFolder whole, halves;
    const Hash128 expected = test::CampaignBench(options).run(whole.path() / "run").fingerprint;
    Options half = options;
    half.run.budget_builds = 7;
    static_cast<void>(test::CampaignBench(half).run(halves.path() / "run"));
    CHECK(fs::exists(halves.path() / "run/search_state.json"));
    CHECK(test::CampaignBench(options).run(halves.path() / "run", true).fingerprint == expected);
  }
}

TEST_CASE(
    "a search of every strategy goes on from its state at any point as if it had not stopped") {
  for (const std::string& name : names()) {
    for (std::uint64_t seed = 1; seed <= 2; ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      Rng rng(seed, "table");
      test::Table table = test::random_table(rng, 60, 0.2);
      for (const auto& actions : table.actions) {
        auto& labels = table.labels.emplace_back();
        for (std::size_t a = 0; a < actions.size(); ++a) labels.push_back(1 + rng.below(5));
      }
      const Options options = with(name);
      test::TableSpace space(table);
      auto search = std::make_unique<Search>(space, options, seed, test::TableSpace::key(0));
      test::TableSpace other(table);
      auto resumed = std::make_unique<Search>(other, options, seed, test::TableSpace::key(0));
      std::vector<Dispatch> flights;
      for (int step = 0; step < 40; ++step) {
        const std::string kept = kept_of(*resumed);
        CHECK(kept_of(*search) == kept);
        other = test::TableSpace(table, other.places());
        resumed = std::make_unique<Search>(
            other, options, seed, test::graph_of(test::arenas_of(resumed->graph()), "arenas"),
            resumed->state(), "state");
        StrategyState reader(kept, resumed->graph().node_count(), "state");
        resumed->keep(reader);
        reader.require_end();
        if (flights.size() < 3) {
          const auto d = search->next();
          const auto again = resumed->next();
          REQUIRE(d.has_value() == again.has_value());
          if (d) {
            REQUIRE(d->node == again->node);
            flights.push_back(*d);
            continue;
          }
          break;
        }
        const std::size_t at = rng.below(flights.size());
        Evaluation outcome = space.evaluate(flights[at].node);
        if (outcome.ok && rng.uniform() < 0.3) outcome.twin = kRoot;
        search->complete(flights[at].sequence, outcome);
        resumed->complete(flights[at].sequence, outcome);
        flights.erase(flights.begin() + static_cast<std::ptrdiff_t>(at));
        REQUIRE(search->fingerprint() == resumed->fingerprint());
      }
    }
  }
}

TEST_CASE("the state of a strategy that was cut, or is another's, is refused") {
  const test::Table table{.actions = {{1, 2}, {2}, {}}, .rewards = {0, 1, 2}};
  test::TableSpace space(table);
  Search search(space, with("history"), 1, test::TableSpace::key(0));
  const auto first = search.next();
  REQUIRE(first);
  const std::string whole = kept_of(search);
  const auto refused = [&](const std::string& strategy, const std::string& bytes) {
    Search other(space, with(strategy), 1,
                 test::graph_of(test::arenas_of(search.graph()), "arenas"), search.state(),
                 "state");
    StrategyState reader(bytes, other.graph().node_count(), "state");
    CHECK_THROWS_AS((other.keep(reader), reader.require_end()), Error);
  };
  for (std::size_t left = 0; left < whole.size(); ++left) refused("history", whole.substr(0, left));
  refused("history", whole + '\0');
  refused("random", whole);
}

TEST_CASE("a tuning space of which single points are legal is searched to its end") {
  // No two points differ in one tunable only.
  std::vector<RecordedSpace::Axis> axes;
  for (const char* const name : {"a", "b"}) {
    RecordedSpace::Axis axis{.name = name, .texts = {}, .values = {}};
    for (std::int64_t value = 0; value < 12; ++value) {
      axis.values.push_back(value);
      axis.texts.push_back(std::to_string(value));
    }
    axes.push_back(std::move(axis));
  }
  std::vector<RecordedSpace::Row> rows;
  for (Level level = 0; level < 12; ++level)
    rows.push_back({.point = {level, level}, .time_ns = 1e6 + level});
  const RecordedSpace space("diagonal", "a device", std::move(axes), std::move(rows), "diagonal");
  for (const std::string& name : names()) {
    if (name == "breadth_first") continue;  // what moves lead to, and no more
    CAPTURE(name);
    CHECK(run_lab(space, with(name), {.seed = 3, .budget = 12}).evaluations == 12);
  }
}

TEST_CASE("where half of a tuning space fails the first points turn to the other half") {
  const RecordedSpace space = failing_where(too_large_together);
  const auto failed = [](const RecordedSpace::Row& row) { return row.status != Status::ok; };
  CHECK(2 * std::ranges::count_if(space.rows(), failed) > std::ssize(space.rows()));
  double guided = 0, uniform = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const LabSettings lab{.seed = seed, .budget = 20};
    guided += static_cast<double>(run_lab(space, with("guided"), lab).failed);
    uniform += static_cast<double>(run_lab(space, with("random"), lab).failed);
  }
  CHECK(guided < 0.7 * uniform);
}

TEST_CASE("where half of a tuning space fails the default is ahead of random points") {
  const auto at_odds = [](const RecordedSpace::Row& row) {  // no direction leads away from it
    return (row.point[0] < 3) != (row.point[1] < 3);
  };
  const auto by_chance = [](const RecordedSpace::Row& row) {
    std::uint64_t h = 0;
    for (const Level level : row.point) h = mix64(h + level);
    return h % 2 == 0;
  };
  using Fails = std::function<bool(const RecordedSpace::Row&)>;
  for (const Fails& fails : {Fails(too_large_together), Fails(at_odds), Fails(by_chance)}) {
    const RecordedSpace space = failing_where(fails);
    double guided = 0, uniform = 0;
    for (std::uint64_t seed = 1; seed <= 20; ++seed) {
      const LabSettings lab{.seed = seed, .budget = 60};
      guided += std::log(run_lab(space, with("auto"), lab).improvements.back().time_ns);
      uniform += std::log(run_lab(space, with("random"), lab).improvements.back().time_ns);
    }
    CHECK(guided < uniform);
  }
}

TEST_CASE("over tunables mcgs searches from several random points, not from its start alone") {
  // Two islands: no single change leads from one to the other, and the start is on the worse one.
  std::vector<RecordedSpace::Axis> axes;
  for (const char* const name : {"a", "b"})
    axes.push_back(
        {.name = name, .texts = {"0", "1", "2", "3", "4", "5"}, .values = {0, 1, 2, 3, 4, 5}});
  std::vector<RecordedSpace::Row> rows;
  for (Level a = 0; a < 6; ++a) {
    for (Level b = 0; b < 6; ++b) {
      if ((a < 3) != (b < 3)) continue;
      rows.push_back({.point = {a, b}, .time_ns = (a < 3 ? 1000.0 : 100.0) + a + b});
    }
  }
  const RecordedSpace space("islands", "a device", std::move(axes), std::move(rows), "islands");
  PointSpace points(space, std::vector<Level>{0, 0});
  Search search(points, with("mcgs"), 1, points.key(NodeId{0}));
  double best_ns = 1000;
  for (int evaluations = 0; evaluations < 8; ++evaluations) {  // the start's island has nine points
    const auto dispatch = search.next();
    REQUIRE(dispatch);
    const double time_ns = space.rows()[points.row(dispatch->node)].time_ns;
    best_ns = std::min(best_ns, time_ns);
    search.complete(dispatch->sequence, {.ok = true, .reward = std::log(1000 / time_ns)});
  }
  CHECK(best_ns < 200);
  CHECK(search.violated_invariant().empty());
}

TEST_CASE(
    "auto is guided on recorded spaces and history elsewhere; unknown strategies are refused by "
    "name") {
  const RecordedSpace space = small_space();
  const auto kind = [](const std::string& name, const Lattice* lattice) {
    const auto made = make_strategy(with(name), lattice);
    const Strategy& strategy = *made;
    return std::type_index(typeid(strategy));
  };
  CHECK(kind("auto", &space) == kind("guided", nullptr));
  CHECK(kind("auto", nullptr) == kind("history", nullptr));
  CHECK(make_strategy(with("mcgs"), &space) == nullptr);
  CHECK_THROWS_AS(static_cast<void>(make_strategy(with("luck"), nullptr)), Error);
}

TEST_CASE("strategies draw moves evenly, or nine in ten by their priors") {
  test::Table table{.actions = {{1, 2, 3, 4, 5}, {}, {}, {}, {}, {}},
                    .rewards = std::vector<double>(6, 0.0),
                    .priors = {{0.1F, 0.6F, 0.1F, 0.1F, 0.1F}, {}, {}, {}, {}, {}}};
  for (const std::string name : {"random", "best_first", "descent", "genetic"}) {
    CAPTURE(name);
    for (const bool by_prior : {false, true}) {
      CAPTURE(by_prior);
      Options options = with(name);
      options.search.draws = by_prior ? "prior" : "uniform";
      int favourite = 0;
      for (std::uint64_t seed = 1; seed <= 400; ++seed) {
        test::TableSpace space(table);
        Search search(space, options, seed, test::TableSpace::key(0));
        const auto first = search.next();
        REQUIRE(first);
        favourite += space.place(first->node) == 2 ? 1 : 0;
      }
      CHECK(favourite / 400.0 ==
            doctest::Approx(by_prior ? 0.9 * 0.6 + 0.1 * 0.2 : 0.2).epsilon(0.15));
    }
  }
  Options unknown;
  unknown.search.draws = "luck";
  CHECK_THROWS_AS(check_search_options(unknown), Error);
}

TEST_CASE("ordered draws take the moves of a node in turn, by their priors descending") {
  const std::vector<double> rewards{0, -1, -1, -1, -1, -1};
  test::Table table{.actions = {{1, 2, 3, 4, 5}, {}, {}, {}, {}, {}},
                    .rewards = rewards,
                    .priors = {{0.1F, 0.4F, 0.05F, 0.3F, 0.15F}, {}, {}, {}, {}, {}}};
  for (const std::string name : {"random", "best_first", "ils", "beam", "swarm"}) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(name);
      CAPTURE(seed);
      Options options = with(name);
      options.search.draws = "ordered";
      options.search.root_noise_weight = 0;
      test::TableSpace space(table);
      Search search(space, options, seed, test::TableSpace::key(0));
      std::vector<int> places;
      while (const auto dispatch = search.next()) {
        places.push_back(space.place(dispatch->node));
        search.complete(dispatch->sequence, space.evaluate(dispatch->node));
      }
      CHECK(places == std::vector{2, 4, 5, 1, 3});
    }
  }
}

TEST_CASE("the guided search finds the optimum of a smooth space sooner than uniform draws do") {
  const RecordedSpace space = small_space(5, 4);
  double guided = 0, uniform = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const LabSettings lab{.seed = seed, .budget = 60};
    guided += run_lab(space, with("guided"), lab).best_by_evaluation(0).back();
    uniform += run_lab(space, with("random"), lab).best_by_evaluation(0).back();
  }
  CHECK(guided < 0.9 * uniform);
}

TEST_CASE("a forest interpolates what it was told and is less sure elsewhere") {
  const RecordedSpace space = small_space(3, 4);
  const Features features(space);
  std::vector<float> rows, targets;
  for (std::size_t i = 0; i < space.rows().size(); i += 2) {
    rows.resize(rows.size() + features.count());
    features.of(space.rows()[i].point, std::span(rows).last(features.count()));
    targets.push_back(static_cast<float>(i % 5));
  }
  Forest forest(features, {});
  Rng rng(1, "forest");
  forest.fit(rows, targets, rng);
  double known = 0, unknown = 0;
  std::vector<float> row(features.count());
  for (std::size_t i = 0; i < space.rows().size(); ++i) {
    features.of(space.rows()[i].point, row);
    Forest::Prediction p;
    forest.predict(row, std::span(&p, 1));
    (i % 2 == 0 ? known : unknown) += static_cast<double>(p.deviation);
    if (i % 2 == 0) CHECK(std::abs(p.mean - targets[i / 2]) < 0.5F);
  }
  CHECK(known < 0.2 * unknown);
}

TEST_SUITE_END();
