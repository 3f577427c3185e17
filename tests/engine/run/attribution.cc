#include "engine/run/attribution.h"

#include <doctest/doctest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "engine/plugin/objective.h"

using namespace warpath;

namespace {

Ablation timed(double speedup, double low, double high) {
  Ablation out;
  out.key = Hash128{1, 2};
  out.status = Status::ok;
  out.speedup = speedup;
  out.interval = {low, high};
  out.evaluations = 3;
  out.paired = true;
  return out;
}

Ablation ended(Status status, std::string why) {
  Ablation out;
  out.key = Hash128{3, 4};
  out.status = status;
  out.why = std::move(why);
  out.evaluations = 1;
  return out;
}

Ablation unmade(std::string why) {
  Ablation out;
  out.why = std::move(why);
  return out;
}

Ablation with_others(Ablation ablation) {
  ablation.also_without = {"b", "c"};
  return ablation;
}

/// One move under a control whose interval reaches `noise` far.
MoveAttribution judged(Ablation without,
                       Ablation reverse = {},
                       std::optional<bool> realised = true,
                       bool decides = true,
                       double noise = 0.001) {
  Attribution all;
  all.control = timed(1, 1 - noise, 1 + noise);
  all.code_decides = decides;
  all.moves.resize(1);
  all.moves[0].without = std::move(without);
  all.moves[0].reverse = std::move(reverse);
  all.moves[0].code = CodeEvidence{.realised = realised,
                                   .why = "what the code shows",
                                   .arch = "sm_90a",
                                   .tool = "",
                                   .readings = {},
                                   .difference = {}};
  judge(all);
  return all.moves[0];
}

Outcome times(std::vector<double> candidate, std::vector<double> beside = {}) {
  Outcome out;
  out.status = Status::ok;
  out.timings.push_back({.workload = "w",
                         .samples_ns = std::move(candidate),
                         .launch = {},
                         .cache = "hot",
                         .baseline_samples_ns = std::move(beside)});
  return out;
}

ObjectiveFunction objective() {
  KernelSpec spec;
  spec.workloads.emplace_back().name = "w";
  return {spec, {}, 0};
}

}  // namespace

TEST_SUITE_BEGIN("attribution");

TEST_CASE("a verdict follows from interval, least gain, status and code") {
  using enum Contribution;
  struct Row {
    MoveAttribution move;
    Contribution verdict;
  };
  const std::vector<Row> rows{
      {judged(timed(1.3, 1.2, 1.4)), effective},
      {judged(timed(1.3, 0.99, 1.6)), neutral},       // the interval holds 1
      {judged(timed(1.004, 1.003, 1.005)), neutral},  // less than what counts
      // less than equal kernels seem to differ by
      {judged(timed(1.02, 1.01, 1.03), {}, true, true, 0.05), neutral},
      {judged(timed(0.8, 0.7, 0.9)), harmful},
      {judged(timed(0.997, 0.996, 0.998)), neutral},
      {judged(timed(1, 1, 1)), neutral},
      {judged(timed(1.3, 1.2, 1.4), {}, false), not_realised},
      // another code than what was timed
      {judged(timed(1.3, 1.2, 1.4), {}, false, false), effective},
      {judged(timed(1.3, 1.2, 1.4), {}, std::nullopt), effective},
      {judged(ended(Status::wrong_result, "3 of 9 differ"), {}, false), not_realised},
      {judged(ended(Status::wrong_result, "3 of 9 differ")), invalid},
      {judged(ended(Status::compile_error, "")), invalid},
      {judged(ended(Status::crashed, "")), invalid},
      {judged(ended(Status::timed_out, "")), unmeasured},
      {judged(ended(Status::not_applicable, "")), unmeasured},
      {judged(unmade("b does not apply without it")), unmeasured},
      // it can be undone
      {judged(unmade("b does not apply without it"), timed(1.3, 1.2, 1.4)), effective},
      {judged(ended(Status::wrong_result, ""), timed(0.8, 0.7, 0.9)), harmful},
      // leaving it out goes before undoing it
      {judged(timed(1.3, 1.2, 1.4), timed(0.8, 0.7, 0.9)), effective},
      {judged(unmade("a"), unmade("b")), unmeasured},
      {judged(with_others(timed(9, 8, 10))), effective},
      // undoing it leaves out it alone
      {judged(with_others(timed(9, 8, 10)), timed(1, 0.99, 1.01)), neutral},
      {judged(with_others(timed(9, 8, 10)), ended(Status::wrong_result, "")), effective},
  };
  for (std::size_t i = 0; i < rows.size(); ++i) {
    CAPTURE(i);
    CAPTURE(rows[i].move.why);
    CHECK(name(rows[i].move.verdict) == name(rows[i].verdict));
    CHECK_FALSE(rows[i].move.why.empty());
  }
  CHECK(rows[11].move.why == "without it: wrong_result: 3 of 9 differ");
  CHECK(rows[16].move.why == "b does not apply without it");
  CHECK(rows[21].move.why ==
        "9.000x [8.000, 10.000] over the kernel without it, and without what needs it: b, c");
}

TEST_CASE(
    "an attribution comes back from its file as it was, and a damaged one is refused by place") {
  Attribution all{.name = "k",
                  .runner = "host",
                  .device = "cpu",
                  .best = Hash128{7, 8},
                  .repeat = 3,
                  .stage = "confirmation",
                  .control = timed(1, 0.99, 1.01),
                  .whole = timed(4, 3, 5),
                  .code_arch = "sm_90a",
                  .code_why = "",
                  .code_decides = true,
                  .moves = {}};
  MoveAttribution move;
  move.move = "a@loop:0(x=1)";
  move.proposer = "rules";
  move.without = timed(1.5, 1.4, 1.6);
  move.reverse_move = "a@loop:0(x=0)";
  move.reverse = ended(Status::launch_error, "too many threads");
  move.code = CodeEvidence{.realised = false,
                           .why = "why",
                           .arch = "sm_90a",
                           .tool = "nvdisasm",
                           .readings = {{"shared_load", "machine", 1, 2, 0, 1, true}},
                           .difference = {{"LDS", {1, 2}}}};
  all.moves = {move, move};
  all.moves[1].code->realised.reset();
  all.moves[1].without = unmade("c");
  all.moves[0].without.also_without = {"b", "c"};
  judge(all);
  const nlohmann::json written = to_json(all);
  const Attribution read = attribution_from_json(nlohmann::json::parse(written.dump()), "file");
  CHECK(to_json(read) == written);
  CHECK(read.moves[0].verdict == Contribution::not_realised);
  CHECK(read.moves[0].without.also_without == std::vector<std::string>{"b", "c"});
  CHECK(read.moves[0].code == all.moves[0].code);
  CHECK(read.moves[1].code == all.moves[1].code);
  CHECK_FALSE(read.moves[1].without.key.has_value());
  CHECK(read.best == all.best);
  for (const char* const key : {"name", "best", "control", "moves", "code_decides"}) {
    nlohmann::json damaged = written;
    damaged.erase(key);
    CHECK_THROWS_WITH_AS(attribution_from_json(damaged, "file"), doctest::Contains(key), Error);
  }
  nlohmann::json damaged = written;
  damaged["moves"][0]["verdict"] = "splendid";
  CHECK_THROWS_WITH_AS(attribution_from_json(damaged, "file"),
                       doctest::Contains("/moves/0/verdict"), Error);
}

TEST_CASE(
    "several evaluations give the mean of their ratios, and what differs between them is in the "
    "interval") {
  const Outcome kernel = times({100, 100, 100});
  const SpeedupEstimate one =
      speedup_estimate(objective(), kernel, std::vector{times({50, 50, 50})}, 0.95, 200, 1);
  CHECK(one.speedup == doctest::Approx(2));
  CHECK(one.interval.low == doctest::Approx(2));
  CHECK(one.interval.high == doctest::Approx(2));
  // The machine got twice as slow between the evaluations: launches taken in turn do not care.
  const std::vector paired{times({50, 50, 50}, {100, 100, 100}),
                           times({100, 100, 100}, {200, 200, 200})};
  CHECK(speedup_estimate(objective(), kernel, paired, 0.95, 200, 1).interval.low ==
        doctest::Approx(2));
  const std::vector apart{times({50, 50, 50}), times({100, 100, 100}), times({200, 200, 200})};
  const SpeedupEstimate wide = speedup_estimate(objective(), kernel, apart, 0.95, 500, 1);
  CHECK(wide.speedup == doctest::Approx(1));
  CHECK(wide.interval.low < 0.7);
  CHECK(wide.interval.high > 1.4);
  Outcome wrong = times({50});
  wrong.status = Status::wrong_result;
  CHECK(std::isnan(
      speedup_estimate(objective(), kernel, std::vector{times({50}), wrong}, 0.95, 200, 1)
          .speedup));
  CHECK(std::isnan(speedup_estimate(objective(), kernel, {}, 0.95, 200, 1).speedup));
}

TEST_CASE(
    "samples taken in turn are drawn in pairs: a machine that wavers under both widens nothing") {
  const Outcome kernel = times({100, 100, 100});
  const Outcome in_turn = times({50, 100, 75, 50, 100}, {100, 200, 150, 100, 200});
  const Interval pairs = speedup_interval(objective(), kernel, in_turn, 0.99, 500, 1);
  CHECK(pairs.low == doctest::Approx(2));
  CHECK(pairs.high == doctest::Approx(2));
  const Interval alone =
      speedup_interval(objective(), kernel,
                       times({50, 100, 75, 50, 100}, {100, 200, 150, 100, 200, 100}), 0.99, 500, 1);
  CHECK(alone.low < 1.5);
  CHECK(alone.high > 2.5);
  CHECK(objective().is_paired(in_turn));
  CHECK_FALSE(objective().is_paired(times({50, 50})));
  CHECK_FALSE(objective().is_paired(times({50, 50}, {100})));  // one figure of the baseline for all
  CHECK_FALSE(objective().is_paired({}));
}

TEST_CASE("a speed-up is told with its interval") {
  CHECK(ratio_text(18.5704) == "18.570x");
  CHECK(ratio_text(18.5704, Interval{18.5, 18.6}) == "18.570x [18.500, 18.600]");
}

TEST_SUITE_END();
