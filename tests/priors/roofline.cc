#include "priors/evidence/roofline.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/rng.h"
#include "register_moves.h"

using namespace warpath;

namespace {

/// The allocation told again, step by step on named axes, with nothing shared with the tested code.
std::vector<int> told_again(double compute, double memory, double latency) {
  std::vector<std::pair<std::string, double>> gaps{
      {"compute", compute}, {"memory", memory}, {"latency", latency}};
  double total = 0;
  for (auto& [axis, gap] : gaps) {
    if (gap < 0.10) gap = 0;
    total += gap;
  }
  if (total < 0.01) return {1, 1, 1};
  std::vector<double> raw;
  std::vector<int> got;
  int over = 0;
  for (const auto& [axis, gap] : gaps) {
    raw.push_back(3 * gap / total);
    // the default mode rounds half to even
    int slots = static_cast<int>(std::nearbyint(raw.back()));
    if (slots > 2) {
      over += slots - 2;
      slots = 2;
    }
    got.push_back(slots);
  }
  std::vector<int> order{0, 1, 2};
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return gaps[static_cast<std::size_t>(a)].second > gaps[static_cast<std::size_t>(b)].second;
  });
  for (const int i : order) {
    while (over > 0 && got[static_cast<std::size_t>(i)] < 2) {
      ++got[static_cast<std::size_t>(i)];
      --over;
    }
  }
  for (int now = got[0] + got[1] + got[2]; now != 3; now = got[0] + got[1] + got[2]) {
    if (now < 3) {
      std::size_t pick = 9;
      for (const std::size_t i : {1, 2, 0}) {
        if (got[i] < 2 && (pick == 9 || raw[i] - got[i] > raw[pick] - got[pick])) pick = i;
      }
      ++got[pick];
    } else {
      std::size_t pick = 9;
      for (const std::size_t i : {0, 2, 1}) {
        if (got[i] > 0 && (pick == 9 || raw[i] - got[i] < raw[pick] - got[pick])) pick = i;
      }
      --got[pick];
    }
  }
  return got;
}

MethodBudget budget(double c, double m, double l) {
  return share_slots(c, m, l);
}

}  // namespace

TEST_SUITE_BEGIN("prior_roofline");

TEST_CASE("the budget's corners, worked out by hand") {
  CHECK(budget(0.5, 0.5, 0.5) == MethodBudget{1, 1, 1});
  CHECK(budget(0, 0, 0) == MethodBudget{1, 1, 1});
  CHECK(budget(0.09, 0.09, 0.09) == MethodBudget{1, 1, 1});
  // what is cut off goes to the first axis below the cap, gap or not
  CHECK(budget(0, 0.5, 0) == MethodBudget{1, 2, 0});
  CHECK(budget(0.9, 0, 0) == MethodBudget{2, 1, 0});
  CHECK(budget(0, 0, 0.9) == MethodBudget{1, 0, 2});
  // 1.5 and 1.5 round to 2 and 2: compute gives first
  CHECK(budget(0.5, 0.5, 0) == MethodBudget{1, 2, 0});
  CHECK(budget(0.5, 0, 0.5) == MethodBudget{1, 0, 2});
  // of memory and latency, latency gives first
  CHECK(budget(0, 0.5, 0.5) == MethodBudget{0, 2, 1});
  CHECK(budget(0.9, 0.4, 0.4) == MethodBudget{1, 1, 1});
  CHECK(budget(1, 0.2, 0.2) == MethodBudget{2, 1, 0});
}

TEST_CASE("the budget equals an independent telling on a grid and on random gaps") {
  int cases = 0;
  const auto check = [&](double c, double m, double l) {
    CAPTURE(c);
    CAPTURE(m);
    CAPTURE(l);
    const MethodBudget got = budget(c, m, l);
    CHECK(std::vector<int>{got.compute, got.memory, got.latency} == told_again(c, m, l));
    CHECK(got.compute + got.memory + got.latency == 3);
    ++cases;
  };
  for (const double c : {0.0, 0.05, 0.10, 0.2, 0.25, 0.5, 0.75, 1.0}) {
    for (const double m : {0.0, 0.05, 0.10, 0.2, 0.25, 0.5, 0.75, 1.0}) {
      for (const double l : {0.0, 0.05, 0.10, 0.2, 0.25, 0.5, 0.75, 1.0}) check(c, m, l);
    }
  }
  Rng rng(5, "roofline");
  for (int i = 0; i < 500; ++i) {
    const double c = rng.uniform(), m = rng.uniform(), l = rng.uniform();
    check(c, m, l);
  }
  CHECK(cases > 1000);
}

TEST_CASE("gaps come from counters, else from bounds over the time, else they are a half each") {
  Diagnosis diagnosis;
  CHECK_FALSE(roofline_gaps(DiagnosisView(diagnosis, 1000)).known);
  CHECK(roofline_gaps(DiagnosisView(diagnosis, 1000)).memory == 0.5);
  CHECK(axis_factor(roofline_gaps(DiagnosisView(diagnosis, 1000)), Axis::memory) == 1);
  diagnosis.time_bound_ns = {{"dram", {250, FactSource::static_analysis}},
                             {"fp32", {100, FactSource::measured}}};
  RooflineGaps gaps = roofline_gaps(DiagnosisView(diagnosis, 1000));
  CHECK(gaps.known);
  CHECK(gaps.memory == doctest::Approx(0.75));
  CHECK(gaps.compute == doctest::Approx(0.9));
  CHECK(gaps.latency == doctest::Approx(0.75));
  CHECK(gaps.source == FactSource::static_analysis);
  diagnosis.facts = {{"dram_throughput", {0.95, FactSource::measured}},
                     {"tensor_pipe", {0.1, FactSource::measured}},
                     {"fma_pipe", {0.9, FactSource::measured}},
                     {"stall_wait", {0.1, FactSource::measured}},
                     {"stall_barrier", {0.12, FactSource::measured}}};
  gaps = roofline_gaps(DiagnosisView(diagnosis, 1000));
  CHECK(gaps.memory == doctest::Approx(0.05));
  CHECK(gaps.compute == doctest::Approx(0.1));
  CHECK(gaps.latency == doctest::Approx(0.12));
  CHECK(near_peak(gaps));
  CHECK(bound_name(gaps) == "near_peak");
}

TEST_CASE("the bound is what explains most of the time, never the resource that idles") {
  const auto bound = [](double compute, double memory, double latency) {
    return bound_name({.compute = 1 - compute,
                       .memory = 1 - memory,
                       .latency = latency,
                       .known = true,
                       .source = FactSource::measured});
  };
  CHECK(bound(0.10, 0.77, 0.5) == "bandwidth");
  // warps that wait for a busy memory are its symptom
  CHECK(bound(0.10, 0.77, 0.9) == "bandwidth");
  CHECK(bound(0.77, 0.10, 0.5) == "compute");
  CHECK(bound(0.97, 0.02, 0.01) == "compute");
  CHECK(bound(0.30, 0.40, 0.2) == "latency");  // neither is busy for half of the time
  CHECK(bound(0.05, 0.01, 0.9) == "latency");
  // Ties go to compute, then bandwidth, then latency.
  CHECK(bound(0.75, 0.75, 0.5) == "compute");
  CHECK(bound(0.25, 0.5, 0.5) == "bandwidth");
  CHECK(bound(0.86, 0.86, 0.14) == "near_peak");
  CHECK(bound(0.86, 0.84, 0.14) == "compute");
}

TEST_CASE("a resource of which nothing is known bounds nothing") {
  const Diagnosis traffic{.time_bound_ns = {{"dram", {300, FactSource::measured}}}, .facts = {}};
  const RooflineGaps gaps = roofline_gaps(DiagnosisView(traffic, 1000));
  REQUIRE(gaps.known);
  CHECK(gaps.held_by(Axis::compute) == 0);
  CHECK(gaps.held_by(Axis::memory) == doctest::Approx(0.3));
  CHECK(gaps.held_by(Axis::latency) == doctest::Approx(0.7));
  CHECK(bound_name(gaps) == "latency");
}

TEST_CASE(
    "the budget and the factors of a kernel at 77 % of its bandwidth go to memory and latency") {
  const Diagnosis diagnosis{.time_bound_ns = {{"dram", {770, FactSource::measured}},
                                              {"fp32", {80, FactSource::measured}}},
                            .facts = {}};
  const RooflineGaps gaps = roofline_gaps(DiagnosisView(diagnosis, 1000));
  CHECK(bound_name(gaps) == "bandwidth");
  CHECK(method_budget(gaps) == MethodBudget{0, 2, 1});
  CHECK(axis_factor(gaps, Axis::memory) > axis_factor(gaps, Axis::latency));
  CHECK(axis_factor(gaps, Axis::latency) > axis_factor(gaps, Axis::compute));
  CHECK(axis_factor(gaps, Axis::compute) == doctest::Approx(0.5));
}

TEST_CASE("an axis' factor grows with its share of the time") {
  const RooflineGaps gaps{
      .compute = 1, .memory = 0.25, .latency = 0.9, .known = true, .source = FactSource::measured};
  CHECK(axis_factor(gaps, Axis::compute) == doctest::Approx(0.5));
  CHECK(axis_factor(gaps, Axis::memory) == doctest::Approx(1.5));
  CHECK(axis_factor(gaps, Axis::latency) == doctest::Approx(0.875));
}

TEST_CASE("the registry has sixty-three methods, and the moves that it names exist") {
  const MoveRegistry& moves = registered_moves();
  const MethodRegistry& registry = MethodRegistry::built_in();
  CHECK(registry.methods().size() == 63);
  for (const Method& method : registry.methods()) {
    for (const std::string& move : method.moves)
      CHECK_MESSAGE(moves.contains(move), method.id, " ", move);
  }
  CHECK(registry.axes_of("no_such_move").size() == 3);
  for (const auto& [name, entry] : moves.entries())
    CHECK_MESSAGE(registry.structural(name) == entry.make()->structural(), name);
  const Method& tensor = *registry.find("tensor_core");
  const Diagnosis diagnosis{.time_bound_ns = {},
                            .facts = {{"tensor_pipe", {0.4, FactSource::measured}}}};
  CHECK(tensor.trigger_strength(DiagnosisView(diagnosis, 0)).value() == doctest::Approx(0.5));
}

TEST_SUITE_END();
