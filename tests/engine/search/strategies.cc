#include "engine/search/strategy.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>
#include <string>

#include "engine/base/error.h"
#include "engine/search/forest.h"
#include "engine/search/search.h"
#include "register_strategies.h"
#include "runners/replay/point_space.h"
#include "runners/replay/virtual_lab.h"
#include "tests/support/campaign_bench.h"
#include "tests/support/small_space.h"
#include "tests/support/table_space.h"
#include "tests/support/temporary_folder.h"

using namespace warpath;
using test::small_space;

TEST_SUITE_BEGIN("strategies");

namespace {

std::vector<std::string> names() {
  StrategyRegistry registry("strategy");
  register_strategies(registry);
  std::vector<std::string> out{"mcgs"};
  for (const auto& [name, entry] : registry.entries()) out.push_back(name);
  return out;
}

Options with(const std::string& strategy) {
  Options options;
  options.search.strategy = strategy;
  return options;
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
    CHECK(test::CampaignBench(options).run(halves.path() / "run", true).fingerprint == expected);
  }
}

TEST_CASE(
    "auto is guided on recorded spaces and graph search elsewhere; unknown strategies are refused "
    "by name") {
  const RecordedSpace space = small_space();
  CHECK(make_strategy(with("auto"), &space) != nullptr);
  CHECK(make_strategy(with("auto"), nullptr) == nullptr);
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
