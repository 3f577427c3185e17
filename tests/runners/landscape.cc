#include "runners/synthetic/landscape.h"

#include <doctest/doctest.h>

#include <cmath>
#include <set>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "engine/base/statistics.h"
#include "register_runners.h"
#include "runners/synthetic/options.h"
#include "runners/synthetic/runner.h"
#include "tests/support/campaign_bench.h"

using namespace warpath;

namespace {

template <class Visit>
void each_point(const Landscape& landscape, Visit&& visit) {
  Landscape::Point point(static_cast<std::size_t>(landscape.knobs()), 0);
  for (;;) {
    visit(point);
    std::size_t i = 0;
    while (i < point.size() && ++point[i] == landscape.levels()) point[i++] = 0;
    if (i == point.size()) return;
  }
}

}  // namespace

TEST_SUITE("landscape") {
  TEST_CASE("the same options and seed give the same landscape, another seed another one") {
    const SyntheticOptions options;
    const Landscape a(options, 1), same(options, 1), other(options, 2);
    const Landscape::Point point{1, 2, 3, 0, 1, 2};
    CHECK(a.log_time(point) == same.log_time(point));
    CHECK(a.log_time(point) != other.log_time(point));
    CHECK(a.optimum()->point == same.optimum()->point);
  }

  TEST_CASE("the optimum is ok, and nothing that is ok is faster") {
    for (const Preset& preset : kPresets) {
      CAPTURE(preset.name);
      SyntheticOptions options;
      options.knobs = 4;
      const Landscape landscape(with_preset(options, preset.name, "test"), 3);
      const auto best = landscape.optimum();
      REQUIRE(best.has_value());
      CHECK(landscape.status(best->point) == Status::ok);
      CHECK(landscape.log_time(best->point) == best->log_time);
      each_point(landscape, [&](const Landscape::Point& p) {
        if (landscape.status(p) == Status::ok) CHECK(landscape.log_time(p) >= best->log_time);
      });
    }
  }

  TEST_CASE("the default runs, whatever fails") {
    SyntheticOptions options;
    options.failure = 0.95;
    for (std::uint64_t seed = 0; seed < 20; ++seed)
      CHECK(Landscape(options, seed).status({0, 0, 0, 0, 0, 0}) == Status::ok);
  }

  TEST_CASE(
      "failures have the share asked for, over every status that a variant can be to blame for") {
    SyntheticOptions options;
    options.failure = 0.4;
    const Landscape landscape(options, 5);
    std::set<Status> seen;
    double failed = 0, points = 0;
    each_point(landscape, [&](const Landscape::Point& p) {
      seen.insert(landscape.status(p));
      failed += landscape.status(p) == Status::ok ? 0 : 1;
      ++points;
    });
    CHECK(failed / points == doctest::Approx(0.4).epsilon(0.1));
    CHECK(seen.size() == kStatusNames.size() - 1);
    CHECK_FALSE(seen.contains(Status::not_measured));
  }

  TEST_CASE("spread is the deviation of the log time") {
    SyntheticOptions options;
    options.knobs = 7;
    options.dip = options.plateau = options.failure = 0;
    Welford means;
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
      const Landscape landscape(options, seed);
      Welford times;
      each_point(landscape, [&](const Landscape::Point& p) { times.add(landscape.log_time(p)); });
      means.add(times.deviation());
    }
    CHECK(means.mean == doctest::Approx(options.spread).epsilon(0.15));
  }

  TEST_CASE("a plateau leaves the time as it was") {
    SyntheticOptions options;
    options.plateau = 1;
    options.dip = 0;
    const Landscape landscape(options, 4);
    CHECK(landscape.log_time({3, 3, 3, 3, 3, 3}) == landscape.log_time({0, 0, 0, 0, 0, 0}));
  }

  TEST_CASE("in a trap every single step towards the optimum is slower") {
    SyntheticOptions options;
    options.knobs = 3;
    options.deception = 1;
    options.dip = options.failure = 0;
    const Landscape landscape(options, 1);
    const double top = landscape.log_time({3, 3, 3});
    CHECK(landscape.optimum()->log_time == top);
    CHECK(landscape.log_time({2, 3, 3}) > landscape.log_time({2, 2, 3}));
    CHECK(landscape.log_time({1, 0, 0}) > landscape.log_time({0, 0, 0}));
  }

  TEST_CASE("too many points have no known optimum, and an unknown preset is refused by name") {
    SyntheticOptions options;
    options.knobs = 64;
    CHECK_FALSE(Landscape(options, 1).optimum().has_value());
    try {
      static_cast<void>(with_preset(options, "flat", "--runner"));
      FAIL("no error");
    } catch (const Error& e) {
      CHECK(std::string(e.what()) ==
            "--runner: got flat, expected a landscape: one of smooth, rugged, deceptive, plateau, "
            "cyclic, failing");
    }
  }

  TEST_CASE(
      "what the runner measures depends on the seeds and the variant alone, and scatters as "
      "asked") {
    Options options;
    options.of<SyntheticOptions>().noise = 0.05;
    const RunnerConfig config{.argument = "", .seed = 9, .options = &options, .program = ""};
    const auto runner = registered_runners().create("--runner", "synthetic", config);
    const KernelSpec spec = *runner->substitute(test::stand_in_spec());
    CHECK(spec.name == "stand_in");
    const Variant variant = baseline_variant(spec);
    const auto measure = [&](std::uint64_t seed) {
      return runner->run({.spec = spec,
                          .variant = variant,
                          .key = variant_key(variant),
                          .seed = seed,
                          .incumbent_ns = 0},
                         {});
    };
    CHECK(measure(1) == measure(1));
    CHECK(measure(1) != measure(2));
    Welford logs;
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      const Outcome outcome = measure(seed);
      for (const double x : outcome.timings.at(0).samples_ns) logs.add(std::log(x));
    }
    CHECK(logs.deviation() == doctest::Approx(0.05).epsilon(0.1));
  }
}
