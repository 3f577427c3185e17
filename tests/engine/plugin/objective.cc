#include "engine/plugin/objective.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

using namespace warpath;

namespace {

KernelSpec spec_with(Objective objective, std::vector<Workload> workloads) {
  KernelSpec spec;
  spec.objective = objective;
  spec.workloads = std::move(workloads);
  return spec;
}

Workload workload(std::string name, double weight = 1, WorkloadRole role = WorkloadRole::score) {
  Workload w;
  w.name = std::move(name);
  w.weight = weight;
  w.role = role;
  return w;
}

Outcome times(std::vector<std::pair<std::string, double>> ns) {
  Outcome outcome;
  outcome.status = Status::ok;
  outcome.verdict.gates = {{"reference", GateResult::Answer::pass, ""}};
  for (auto& [name, x] : ns)
    outcome.timings.push_back(
        {.workload = name, .samples_ns = {x * 0.9, x, x * 5}, .launch = {}, .cache = ""});
  return outcome;
}

}  // namespace

TEST_SUITE("objective") {
  TEST_CASE("the baseline against itself is worth nothing") {
    for (const Objective o : {Objective::geomean, Objective::weighted, Objective::worst}) {
      ObjectiveFunction f(spec_with(o, {workload("a"), workload("b", 3)}), {}, 0.98);
      const Outcome baseline = times({{"a", 100}, {"b", 1000}});
      REQUIRE(f.set_baseline(baseline).empty());
      CHECK(f.reward(baseline) == doctest::Approx(0));
    }
  }

  TEST_CASE("geomean, weighted and worst weigh a mixed result differently, from medians") {
    const auto speedup = [](Objective o) {
      ObjectiveFunction f(spec_with(o, {workload("a", 1), workload("b", 3)}), {}, 0.98);
      REQUIRE(f.set_baseline(times({{"a", 100}, {"b", 1000}})).empty());
      return std::exp(f.reward(times({{"a", 25}, {"b", 2000}})));  // 4x and 0.5x
    };
    CHECK(speedup(Objective::geomean) ==
          doctest::Approx(std::exp((std::log(4) + 3 * std::log(0.5)) / 4)));
    CHECK(speedup(Objective::weighted) == doctest::Approx((100 + 3000.0) / (25 + 6000.0)));
    CHECK(speedup(Objective::worst) == doctest::Approx(0.5));
  }

  TEST_CASE(
      "a candidate is compared with the baseline that was timed beside it, not with an older "
      "figure") {
    for (const Objective o : {Objective::geomean, Objective::weighted, Objective::worst}) {
      ObjectiveFunction f(spec_with(o, {workload("a")}), {}, 0.98);
      REQUIRE(f.set_baseline(times({{"a", 1000}})).empty());  // the machine was busy then
      Outcome candidate = times({{"a", 200}});
      candidate.timings[0].baseline_samples_ns = {180, 200, 900};
      CHECK(std::exp(f.reward(candidate)) == doctest::Approx(1));
      candidate.timings[0].baseline_samples_ns = {720, 800, 3600};
      const double reported_ns = f.baseline_ns(candidate) / std::exp(f.reward(candidate));
      CHECK(reported_ns == doctest::Approx(typical_ns(candidate, "a")));
      candidate.timings[0].baseline_samples_ns = {std::numeric_limits<double>::quiet_NaN()};
      f.judge(candidate);
      CHECK(candidate.status == Status::rejected);
    }
  }

  TEST_CASE("regress workloads do not count; a guard that gets too slow rejects the candidate") {
    auto guard = workload("g", 1, WorkloadRole::guard);
    guard.min_speedup = 0.9;
    ObjectiveFunction f(spec_with(Objective::geomean,
                                  {workload("a"), guard, workload("r", 1, WorkloadRole::regress)}),
                        {}, 0.98);
    REQUIRE(f.set_baseline(times({{"a", 100}, {"g", 100}})).empty());
    CHECK(f.baseline_ns() == doctest::Approx(100));
    Outcome good = times({{"a", 50}, {"g", 110}});
    f.judge(good);
    CHECK(good.status == Status::ok);
    CHECK(std::exp(f.reward(good)) == doctest::Approx(2));
    Outcome bad = times({{"a", 50}, {"g", 112}});
    f.judge(bad);
    CHECK(bad.status == Status::rejected);
    CHECK(bad.verdict.summary() == "guard_floor fail: g 0.893x, floor 0.900x");
  }

  TEST_CASE(
      "an outcome without a sound time for each workload, or with a failed gate, is rejected") {
    ObjectiveFunction f(spec_with(Objective::geomean, {workload("a"), workload("b")}), {}, 0.98);
    REQUIRE(f.set_baseline(times({{"a", 100}, {"b", 100}})).empty());
    for (const double x : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
      Outcome outcome = times({{"a", 50}, {"b", 50}});
      outcome.timings[1].samples_ns[0] = x;
      f.judge(outcome);
      CHECK(outcome.status == Status::rejected);
    }
    Outcome missing = times({{"a", 50}});
    f.judge(missing);
    CHECK(missing.verdict.summary() == "workloads_timed fail: b has no time");
    Outcome failed = times({{"a", 50}, {"b", 50}});
    failed.verdict.gates[0].answer = GateResult::Answer::fail;
    f.judge(failed);
    CHECK(failed.status == Status::rejected);
    Outcome crashed;
    f.judge(crashed);
    CHECK(crashed.verdict.gates.empty());  // it was not ok to begin with
  }

  TEST_CASE("a baseline that is wrong or has no time says why it cannot be one") {
    ObjectiveFunction f(spec_with(Objective::geomean, {workload("a")}), {}, 0.98);
    Outcome wrong;
    wrong.status = Status::wrong_result;
    wrong.log = "o[3] = 1, expected 2\nmore";
    CHECK(f.set_baseline(wrong) == "wrong_result: o[3] = 1, expected 2");
    CHECK(f.set_baseline(times({})) == "workload a has no time");
    CHECK(ObjectiveFunction(
              spec_with(Objective::geomean, {workload("r", 1, WorkloadRole::regress)}), {}, 0.98)
              .set_baseline(times({})) == "no workload of role score runs here");
  }
}
