#include "engine/run/finals.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>

#include "engine/base/error.h"

using namespace warpath;

namespace {

KernelSpec two_workloads() {
  KernelSpec spec;
  Workload scored, guarded;
  scored.name = "scored";
  guarded.name = "guarded";
  guarded.role = WorkloadRole::guard;
  spec.workloads = {scored, guarded};
  return spec;
}

Outcome timed(double scored_ns, double guarded_ns = 100) {
  Outcome out;
  out.status = Status::ok;
  out.verdict.gates = {{"reference", GateResult::Answer::pass, ""}};
  out.timings = {{.workload = "scored", .samples_ns = {scored_ns}, .launch = {}, .cache = "hot"},
                 {.workload = "guarded", .samples_ns = {guarded_ns}, .launch = {}, .cache = "hot"}};
  return out;
}

Outcome refused() {
  Outcome out;
  out.status = Status::rejected;
  out.verdict.gates = {{"vault", GateResult::Answer::fail, "wrote elsewhere"}};
  return out;
}

/// Finals after a search in which the baseline took 100 ns and node i+1 the i-th time.
Finals after_search(int count, const std::vector<double>& times_ns, int candidates = 0) {
  ObjectiveFunction objective(two_workloads(), {}, 0.5);
  REQUIRE(objective.set_baseline(timed(100)).empty());
  RunOptions options;
  options.finalists = count;
  options.final_candidates = candidates;
  Finals finals(objective, options);
  for (std::size_t i = 0; i < times_ns.size(); ++i)
    finals.enter(NodeId{static_cast<std::uint32_t>(i + 1)}, std::log(100 / times_ns[i]));
  return finals;
}

struct Found {
  double ns;
  std::set<std::string> moves;
  std::string code;
};
void enter(Finals& finals, std::uint32_t node, const Found& found, double seconds = 0) {
  finals.enter(NodeId{node},
               {.reward = std::log(100 / found.ns),
                .standard_error = 0,
                .moves = found.moves,
                .binary_key = found.code},
               seconds);
}

/// The same with what made each node: node i+1 is the i-th.
Finals nominated(int count, const std::vector<Found>& found) {
  Finals finals = after_search(count, {});
  for (std::size_t i = 0; i < found.size(); ++i)
    enter(finals, static_cast<std::uint32_t>(i + 1), found[i]);
  return finals;
}

Finals::Applied apply(Finals& finals, std::uint32_t node, Outcome outcome) {
  finals.judge(NodeId{node}, outcome);
  return finals.apply(
      FinalEvent{.key = hash128("k"), .node = NodeId{node}, .outcome = std::move(outcome)},
      "log:7");
}

std::vector<std::uint32_t> due(const Finals& finals, Stage stage = Stage::final) {
  std::vector<std::uint32_t> out;
  for (const Finals::Due& one : finals.due()) {
    CHECK(one.stage == stage);
    out.push_back(index(one.node));
  }
  return out;
}

/// The next reading of that node in a heat.
Finals::Applied read(Finals& finals, std::uint32_t node, std::uint64_t reading, Outcome outcome) {
  finals.judge(NodeId{node}, outcome);
  return finals.apply(HeatEvent{.key = hash128("k"),
                                .node = NodeId{node},
                                .reading = reading,
                                .outcome = std::move(outcome)},
                      "log:8");
}

using Nodes = std::vector<std::uint32_t>;

}  // namespace

TEST_SUITE("finals") {
  TEST_CASE(
      "the best few of those that beat the baseline are due, best first, after the baseline "
      "itself") {
    Finals finals = after_search(2, {90, 120, 50, 100, 70});
    CHECK(due(finals) == Nodes{0});
    static_cast<void>(apply(finals, 0, timed(100)));
    CHECK(due(finals) == Nodes{3, 5});
    CHECK(due(after_search(9, {120, 100})).empty());  // nothing to report: nothing to pay for
    CHECK(due(after_search(0, {50})).empty());
  }

  TEST_CASE("a finalist that is refused makes room for the next best") {
    Finals finals = after_search(2, {90, 120, 50, 100, 70});
    static_cast<void>(apply(finals, 0, timed(100)));
    static_cast<void>(apply(finals, 3, refused()));
    CHECK(due(finals) == Nodes{5, 1});
    static_cast<void>(apply(finals, 5, timed(70)));
    static_cast<void>(apply(finals, 1, refused()));
    CHECK(due(finals).empty());  // none is left
    REQUIRE(finals.winner());
    CHECK(finals.winner()->node == NodeId{5});
    CHECK(finals.winner()->finalists == 3);
  }

  TEST_CASE(
      "variants of equal machine code are one finalist, whatever the search measured of each") {
    Finals finals = nominated(
        2, {{50, {"a"}, "code 1"}, {60, {"b"}, "code 1"}, {70, {"c"}, ""}, {75, {"d"}, ""}});
    static_cast<void>(apply(finals, 0, timed(100)));
    CHECK(due(finals) == Nodes{1, 3});
    static_cast<void>(apply(finals, 1, timed(80)));
    static_cast<void>(apply(finals, 3, timed(90)));
    CHECK(due(finals).empty());
    // the search goes on and finds the same code once more
    enter(finals, 5, {40, {"e"}, "code 1"});
    CHECK(due(finals).empty());
  }

  TEST_CASE("after a refusal comes who shares little with the refused one; its twins are last") {
    Finals finals = nominated(2, {{50, {"tile", "tensor", "pad"}, ""},
                                  {51, {"tile", "tensor", "pad", "unroll"}, ""},
                                  {52, {"tile", "tensor", "pad"}, ""},
                                  {60, {"tile", "tensor"}, ""},
                                  {70, {"tile", "vector"}, ""},
                                  {80, {"vector"}, ""}});
    static_cast<void>(apply(finals, 0, timed(100)));
    CHECK(due(finals) == Nodes{1, 2});
    static_cast<void>(apply(finals, 1, refused()));
    CHECK(due(finals) == Nodes{5, 6});  // the next family, best first
    static_cast<void>(apply(finals, 5, timed(70)));
    // tile is cleared, tensor or pad to blame: one of them is better than both
    CHECK(due(finals) == Nodes{4});
    static_cast<void>(apply(finals, 4, refused()));
    CHECK(due(finals) == Nodes{6});
    static_cast<void>(apply(finals, 6, refused()));
    CHECK(due(finals) == Nodes{2});  // nobody else is left
    CHECK(finals.dismissed().size() == 3);
    CHECK(finals.dismissed().front().node == NodeId{1});
    CHECK(finals.dismissed().front().outcome->verdict.gates.front().gate == "vault");
  }

  TEST_CASE("a move that passed in one finalist is not suspected in another") {
    Finals finals = nominated(3, {{50, {"tile"}, ""},
                                  {60, {"tile", "fast"}, ""},
                                  {70, {"tile", "vector"}, ""},
                                  {75, {"fast"}, ""}});
    static_cast<void>(apply(finals, 0, timed(100)));
    static_cast<void>(apply(finals, 1, timed(50)));
    static_cast<void>(apply(finals, 2, refused()));
    CHECK(due(finals) == Nodes{3, 4});
  }

  TEST_CASE(
      "who cannot be measured is no winner and is not refused: nobody takes its place, and the "
      "next session tries it once more") {
    Finals finals = after_search(1, {50, 60});
    Outcome busy;
    busy.status = Status::not_measured;
    static_cast<void>(apply(finals, 0, timed(100)));
    static_cast<void>(apply(finals, 1, busy));
    CHECK(due(finals).empty());
    REQUIRE(finals.winner());
    CHECK(finals.winner()->node == NodeId{0});
    CHECK_FALSE(finals.winner()->measured);
    finals.begin_session();
    CHECK(due(finals) == Nodes{1});
    static_cast<void>(apply(finals, 1, timed(50)));
    CHECK(finals.winner()->measured);
    CHECK(finals.winner()->speedup == doctest::Approx(2));
  }

  TEST_CASE(
      "finals end with their time, a quarter of the search's or 20 seconds; what was left out is "
      "counted") {
    for (const double searched : {10.0, 400.0}) {
      CAPTURE(searched);
      Finals finals = after_search(4, {50, 60, 70, 80});
      enter(finals, 9, {200, {}, ""}, searched);
      const double each = searched < 100 ? 9 : 45;
      double now = searched;
      const auto one = [&](std::uint32_t node, Outcome outcome) {
        now += each;
        return finals.apply(
            FinalEvent{
                .key = {}, .node = NodeId{node}, .outcome = std::move(outcome), .seconds = now},
            "log:7");
      };
      static_cast<void>(finals.apply(
          FinalEvent{.key = {}, .node = NodeId{0}, .outcome = timed(100), .seconds = now},
          "log:7"));
      static_cast<void>(one(1, timed(80)));
      CHECK(due(finals).size() == 3);
      static_cast<void>(one(2, timed(70)));
      CHECK(due(finals).empty());  // a third would end at 27 of 20 s, or 135 of 100
      CHECK(finals.left_out() == 2);
      CHECK(finals.winner()->node == NodeId{2});
    }
  }

  TEST_CASE(
      "one finalist is begun alone, then as many as are expected to end in time with what they "
      "need beside their runs") {
    Finals finals = after_search(9, {50, 55, 60, 65, 70});
    Outcome first = timed(50);
    first.run_seconds = 2;
    static_cast<void>(finals.apply(
        FinalEvent{.key = {}, .node = NodeId{0}, .outcome = timed(100), .seconds = 3}, "log:7"));
    CHECK(finals.room() == 1);
    static_cast<void>(finals.apply(
        FinalEvent{.key = {}, .node = NodeId{1}, .outcome = first, .seconds = 9}, "log:7"));
    CHECK(finals.room() == 2);  // of 20 s 11 are left: 2 * 2 and 4 beside, and a quarter more
    Outcome second = timed(55);
    second.run_seconds = 2;
    static_cast<void>(finals.apply(
        FinalEvent{.key = {}, .node = NodeId{2}, .outcome = second, .seconds = 15.5}, "log:7"));
    CHECK(finals.room() == 0);
    CHECK(finals.left_out() == 3);
    CHECK(finals.seconds_left() == doctest::Approx(4.5));
  }

  TEST_CASE(
      "as long as every finalist is refused, finals may take twice the time; a slow baseline "
      "allows more") {
    Finals finals = after_search(1, {50, 60, 70, 80, 90});
    double now = 0;
    const auto refuse = [&](std::uint32_t node) {
      static_cast<void>(finals.apply(
          FinalEvent{.key = {}, .node = NodeId{node}, .outcome = refused(), .seconds = now += 10},
          "log:7"));
    };
    static_cast<void>(apply(finals, 0, timed(100)));
    for (const std::uint32_t node : {1U, 2U, 3U}) refuse(node);
    CHECK(due(finals) == Nodes{4});
    refuse(4);
    CHECK(due(finals).empty());
    CHECK(finals.left_out() == 1);
    ObjectiveFunction slow(two_workloads(), {}, 0.5);
    REQUIRE(slow.set_baseline(timed(2e9)).empty());
    CHECK(Finals(slow, RunOptions{}).allowance() == doctest::Approx(2 * 120));
  }

  TEST_CASE("final times decide, not those of the search; nobody wins before all are in") {
    Finals finals = after_search(2, {50, 60});
    CHECK_FALSE(finals.winner());
    static_cast<void>(apply(finals, 0, timed(100)));
    static_cast<void>(apply(finals, 1, timed(80)));
    CHECK_FALSE(finals.winner());
    static_cast<void>(apply(finals, 2, timed(64)));
    const auto winner = finals.winner();
    REQUIRE(winner);
    CHECK(winner->node == NodeId{2});
    CHECK(winner->speedup == doctest::Approx(100.0 / 64));
    CHECK(winner->verdict->gates.front().gate == "reference");
  }

  TEST_CASE(
      "where every finalist is refused or slower than the baseline, the baseline is the best") {
    Finals finals = after_search(2, {50, 60});
    static_cast<void>(apply(finals, 0, timed(40)));
    static_cast<void>(apply(finals, 1, timed(50)));
    static_cast<void>(apply(finals, 2, refused()));
    REQUIRE(finals.winner());
    CHECK(finals.winner()->node == NodeId{0});
    CHECK(finals.winner()->speedup == 1);
    CHECK(finals.winner()->baseline_ns == doctest::Approx(40));
  }

  TEST_CASE(
      "a finalist is held against the baseline beside it, else the baseline's final, else the "
      "search's") {
    Finals finals = after_search(3, {50, 60});
    CHECK(apply(finals, 0, timed(90)).speedup == 1);
    CHECK(apply(finals, 1, timed(45)).speedup == doctest::Approx(2));
    Outcome paired = timed(40);
    paired.timings[0].baseline_samples_ns = {60};
    CHECK(apply(finals, 2, paired).speedup == doctest::Approx(1.5));

    Finals without = after_search(3, {50});
    const Finals::Applied baseline = apply(without, 0, refused());
    CHECK(baseline.speedup == 0);
    CHECK(baseline.problem.find("rejected: ") == 0);
    CHECK(without.baseline() == nullptr);
    CHECK(apply(without, 1, timed(50)).speedup == doctest::Approx(2));
  }

  TEST_CASE("the first timing of a workload counts, whatever other states of the cache follow") {
    Finals finals = after_search(1, {50});
    static_cast<void>(apply(finals, 0, timed(100)));
    Outcome both = timed(50);
    both.timings.push_back(
        {.workload = "scored", .samples_ns = {500}, .launch = {}, .cache = "cold"});
    CHECK(apply(finals, 1, both).speedup == doctest::Approx(2));
  }

  TEST_CASE("guards are judged against the baseline's final") {
    Finals finals = after_search(1, {50});
    static_cast<void>(apply(finals, 0, timed(100, 1000)));
    CHECK(apply(finals, 1, timed(50, 1500)).speedup == doctest::Approx(2));  // 0.67, floor 0.5
    Finals slower = after_search(1, {50});
    static_cast<void>(apply(slower, 0, timed(100, 10)));
    CHECK(apply(slower, 1, timed(50, 100)).speedup == 0);
  }

  TEST_CASE(
      "when the search goes on, only those are timed that were not, against the baseline timed "
      "anew") {
    Finals finals = after_search(2, {50, 60});
    for (const std::uint32_t node : {0U, 1U, 2U})
      static_cast<void>(apply(finals, node, timed(100 - 20.0 * node)));
    CHECK(finals.winner()->node == NodeId{2});
    finals.enter(NodeId{3}, 0);
    CHECK(due(finals).empty());  // it failed: nothing changed
    finals.enter(NodeId{4}, std::log(2.5));
    CHECK_FALSE(finals.winner());
    CHECK(due(finals) == Nodes{0});
    static_cast<void>(apply(finals, 0, timed(200)));
    CHECK(due(finals) == Nodes{4});
    CHECK(apply(finals, 4, timed(160)).speedup == doctest::Approx(1.25));
    CHECK(finals.winner()->node == NodeId{2});  // still 100 / 60, of its own round
    CHECK(finals.winner()->baseline_ns == doctest::Approx(100));
  }

  TEST_CASE(
      "with more candidates than finalists, heats after the baseline say who is timed at the end "
      "and in which order") {
    Finals finals = after_search(1, {90, 120, 50, 100, 70}, 3);  // nodes 3, 5, 1
    CHECK(due(finals) == Nodes{0});
    static_cast<void>(apply(finals, 0, timed(100)));
    CHECK(due(finals, Stage::confirmation) == Nodes{3, 5, 1});
    CHECK(read(finals, 3, 0, timed(80)).speedup == doctest::Approx(1.25));
    CHECK(due(finals, Stage::confirmation) == Nodes{5, 1});
    static_cast<void>(read(finals, 5, 0, timed(50)));
    static_cast<void>(read(finals, 1, 0, timed(95)));
    // two readings more of each, one after the other
    CHECK(due(finals, Stage::confirmation) == Nodes{5, 3});
    static_cast<void>(read(finals, 5, 1, timed(90)));
    static_cast<void>(read(finals, 3, 1, timed(60)));
    CHECK_FALSE(finals.winner());
    CHECK(due(finals, Stage::confirmation) == Nodes{5, 3});
    CHECK(finals.due().front().reading == 2);
    static_cast<void>(read(finals, 5, 2, timed(90)));
    static_cast<void>(read(finals, 3, 2, timed(60)));
    CHECK(due(finals) == Nodes{3});
    static_cast<void>(apply(finals, 3, refused()));
    CHECK(due(finals) == Nodes{5});  // the next of the heats, not of the search
    static_cast<void>(apply(finals, 5, timed(80)));
    CHECK(due(finals).empty());
    REQUIRE(finals.winner());
    CHECK(finals.winner()->node == NodeId{5});
    CHECK(finals.winner()->speedup == doctest::Approx(1.25));
  }

  TEST_CASE("who is refused in a heat is out; if all are, the baseline is reported") {
    Finals finals = after_search(1, {90, 80}, 2);
    static_cast<void>(apply(finals, 0, timed(100)));
    CHECK(due(finals, Stage::confirmation) == Nodes{2, 1});
    static_cast<void>(read(finals, 2, 0, refused()));
    CHECK(due(finals) == Nodes{1});  // alone: nothing to tell apart
    static_cast<void>(apply(finals, 1, refused()));
    CHECK(due(finals).empty());
    REQUIRE(finals.winner());
    CHECK(finals.winner()->node == NodeId{0});
    CHECK(finals.winner()->finalists == 2);
  }

  TEST_CASE("a reading that cannot be is refused with its place") {
    const auto message = [](const std::vector<std::pair<std::uint32_t, std::uint64_t>>& readings,
                            const Outcome& outcome) -> std::string {
      Finals finals = after_search(1, {50, 60, 150}, 2);
      try {
        for (const auto& [node, reading] : readings)
          static_cast<void>(read(finals, node, reading, outcome));
        return "";
      } catch (const Error& e) {
        return e.what();
      }
    };
    CHECK(message({{1, 0}, {1, 1}, {2, 0}}, timed(50)).empty());
    CHECK(message({{1, 1}}, timed(50)).find("log:8") == 0);
    CHECK(message({{1, 0}, {1, 0}}, timed(50)).find("log:8") == 0);
    CHECK(message({{3, 0}}, timed(50)).find("log:8") == 0);
    CHECK(message({{9, 0}}, timed(50)).find("log:8") == 0);
    CHECK(message({{1, 0}, {1, 0}}, refused()).find("log:8") == 0);
  }

  TEST_CASE("the surer the search is of an order, the more it decides who is a candidate") {
    ObjectiveFunction objective(two_workloads(), {}, 0.5);
    REQUIRE(objective.set_baseline(timed(100)).empty());
    const auto share_of_best = [&](double standard_error) {
      int nominated = 0;
      for (std::uint64_t seed = 1; seed <= 200; ++seed) {
        RunOptions options;
        options.finalists = 1;
        options.final_candidates = 2;
        options.seed = seed;
        Finals finals(objective, options);
        for (std::uint32_t node = 1; node <= 10; ++node)
          finals.enter(NodeId{node}, 0.1 * node, standard_error);
        static_cast<void>(apply(finals, 0, timed(100)));
        for (const Finals::Due& due : finals.due()) nominated += due.node == NodeId{10} ? 1 : 0;
      }
      return nominated / 200.0;
    };
    CHECK(share_of_best(0) == 1);
    CHECK(share_of_best(0.1) > 0.7);
    CHECK(share_of_best(100) < 0.4);
    CHECK(share_of_best(100) > 0.05);
  }

  TEST_CASE("a final that cannot be is refused with its place") {
    const auto message = [](std::uint32_t node, int times, Outcome outcome) -> std::string {
      Finals finals = after_search(2, {50, 150});
      try {
        for (int i = 0; i < times; ++i)
          static_cast<void>(finals.apply(
              FinalEvent{.key = {}, .node = NodeId{node}, .outcome = outcome}, "log:7"));
        return "";
      } catch (const Error& e) {
        return e.what();
      }
    };
    CHECK(message(1, 1, timed(50)).empty());
    CHECK(message(1, 2, timed(50)).find("log:7") == 0);
    CHECK(message(2, 1, timed(50)).find("log:7") == 0);
    CHECK(message(9, 1, timed(50)).find("log:7") == 0);
    Outcome untimed = timed(50);
    untimed.timings.clear();
    CHECK(message(1, 1, untimed).find("log:7") == 0);
  }
}
