#include "engine/plugin/policy.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/base/error.h"
#include "engine/base/rng.h"
#include "register_backups.h"
#include "register_selections.h"
#include "register_widenings.h"
#include "tests/support/search_options.h"

using namespace warpath;
using doctest::Approx;
using warpath::test::search_options;

namespace {

std::vector<Arm> random_arms(Rng& rng) {
  std::vector<Arm> arms(1 + rng.below(6));
  for (Arm& a : arms) {
    a = {.value = rng.normal(),
         .prior = rng.uniform(),
         .visits = static_cast<std::uint32_t>(rng.below(20)),
         .in_flight = static_cast<std::uint32_t>(rng.below(4))};
  }
  if (rng.below(2) == 0)
    arms.front() = {.value = rng.normal(), .prior = rng.uniform(), .is_widen = true};
  return arms;
}

std::uint64_t total(const std::vector<Arm>& arms) {
  std::uint64_t sum = 0;
  for (const Arm& a : arms) sum += a.visits + a.in_flight;
  return sum;
}

Options run_options(const nlohmann::json& changed) {
  return overlay_options(search_options(), {{"run", changed}}, "test");
}

std::string message_of(const nlohmann::json& changed) {
  try {
    const Options options = search_options(changed);
    static_cast<void>(make_selection(options));
    static_cast<void>(make_backup(options));
    static_cast<void>(make_widening(options));
  } catch (const Error& e) {
    CHECK(e.code() == ErrorCode::bad_input);
    return e.what();
  }
  return {};
}

}  // namespace

TEST_SUITE_BEGIN("policies");

TEST_CASE("an unknown policy is refused by option, with the known ones") {
  const SelectionRegistry& selections = registered_selections();
  const BackupRegistry& backups = registered_backups();
  const WideningRegistry& widenings = registered_widenings();
  CHECK(selections.contains("puct"));
  CHECK(message_of({{"selection", "uct"}}) ==
        "search.selection: got uct, expected a selection policy: one of " + selections.names());
  CHECK(message_of({{"backup", "max"}}) ==
        "search.backup: got max, expected a backup policy: one of " + backups.names());
  CHECK(message_of({{"widening", "none"}}) ==
        "search.widening: got none, expected a widening policy: one of " + widenings.names());
}

TEST_CASE(
    "every selection picks an arm, the first of equals unless it draws, and follows the reward's "
    "scale") {
  const SelectionRegistry& registry = registered_selections();
  for (const auto& [name, entry] : registry.entries()) {
    CAPTURE(name);
    const auto policy = entry.make(Options{});
    for (std::uint64_t seed = 0; seed < 300; ++seed) {
      CAPTURE(seed);
      Rng rng(seed, "arms");
      std::vector<Arm> arms = random_arms(rng);
      const NodeView view{.total_visits = total(arms), .own_reward = 0, .sigma = 0.5};
      const auto pick = [&](const std::vector<Arm>& a, const NodeView& v) {
        Rng stream(seed, "select");
        return policy->select(a, v, stream);
      };
      const std::size_t chosen = pick(arms, view);
      CHECK(chosen < arms.size());
      std::vector<Arm> scaled = arms;
      for (Arm& a : scaled) a.value *= 8;
      CHECK(pick(scaled, {.total_visits = view.total_visits, .own_reward = 0, .sigma = 4}) ==
            chosen);
      const std::vector<Arm> equal(5, arms[chosen]);
      if (!policy->draws())
        CHECK(pick(equal, {.total_visits = total(equal), .own_reward = 0, .sigma = 0.5}) == 0);
    }
  }
}

TEST_CASE("puct is the greatest of Q + c sigma P sqrt(T + 1) / (1 + N + O)") {
  const auto puct = make_selection(search_options({{"selection", "puct"}, {"c_puct", 2}}));
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "arms");
    const std::vector<Arm> arms = random_arms(rng);
    std::vector<double> scores;
    for (const Arm& a : arms) {
      scores.push_back(a.value + 2 * 0.3 * a.prior *
                                     std::sqrt(static_cast<double>(total(arms)) + 1) /
                                     (1.0 + a.visits + a.in_flight));
    }
    const auto expected = std::max_element(scores.begin(), scores.end()) - scores.begin();
    CHECK(puct->select(arms, {.total_visits = total(arms), .sigma = 0.3}, rng) ==
          static_cast<std::size_t>(expected));
  }
}

TEST_CASE("ucb1 is the greatest of Q + c sigma sqrt(2 ln(T + 1) / (1 + N + O))") {
  const auto ucb1 = make_selection(search_options({{"selection", "ucb1"}, {"c_ucb1", 2}}));
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "arms");
    const std::vector<Arm> arms = random_arms(rng);
    std::vector<double> scores;
    for (const Arm& a : arms) {
      scores.push_back(a.value + 2 * 0.3 *
                                     std::sqrt(2 * std::log(static_cast<double>(total(arms)) + 1) /
                                               (1.0 + a.visits + a.in_flight)));
    }
    const auto expected = std::max_element(scores.begin(), scores.end()) - scores.begin();
    CHECK(ucb1->select(arms, {.total_visits = total(arms), .sigma = 0.3}, rng) ==
          static_cast<std::size_t>(expected));
  }
}

TEST_CASE("softmax and thompson draw better arms more often, and never leave one out for ever") {
  for (const std::string name : {"softmax", "thompson"}) {
    CAPTURE(name);
    const auto policy = make_selection(search_options({{"selection", name}}));
    const std::vector<Arm> arms{{.value = 0.3, .prior = 0.5, .visits = 1},
                                {.value = 0, .prior = 0.5, .visits = 1}};
    int second = 0;
    for (std::uint64_t seed = 0; seed < 1000; ++seed) {
      Rng rng(seed, "select");
      second += policy->select(arms, {.total_visits = 2, .sigma = 1}, rng) == 1 ? 1 : 0;
    }
    CHECK(second > 20);
    CHECK(second < 400);
  }
}

TEST_CASE("evaluations in flight spread the next ones over other arms") {
  for (const std::string name : {"puct", "ucb1"}) {
    CAPTURE(name);
    const auto policy =
        make_selection(search_options({{"selection", name}, {"c_puct", 1}, {"c_ucb1", 1}}));
    std::vector<Arm> arms{{.value = 1, .prior = 0.5, .visits = 3},
                          {.value = 0.9, .prior = 0.5, .visits = 3}};
    Rng rng(1, "select");
    CHECK(policy->select(arms, {.total_visits = 6, .sigma = 1}, rng) == 0);
    arms[0].in_flight = 4;
    CHECK(policy->select(arms, {.total_visits = 10, .sigma = 1}, rng) == 1);
  }
}

TEST_CASE(
    "every backup gives a leaf its own reward, and a node a value within its children's and its "
    "own") {
  const BackupRegistry& registry = registered_backups();
  for (const auto& [name, entry] : registry.entries()) {
    CAPTURE(name);
    const auto policy = entry.make(Options{});
    CHECK(policy->node_value(-0.75, {}) == Approx(-0.75));
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
      CAPTURE(seed);
      Rng rng(seed, "children");
      const double own = 3 * rng.normal();
      double low = own, high = own;
      std::vector<ChildTerm> children(1 + rng.below(8));
      for (ChildTerm& c : children) {
        const double value = 3 * rng.normal();
        c = {.edge_visits = static_cast<std::uint32_t>(1 + rng.below(9)),
             .value = value,
             .best = value + rng.uniform()};
        low = std::min(low, value);
        high = std::max(high, value);
      }
      const double value = policy->node_value(own, children);
      CHECK(value >= low - 1e-12);
      CHECK(value <= high + 1e-12);
      const double q = policy->edge_value(children[0].value, children[0].best);
      CHECK(q >= children[0].value - 1e-12);
      CHECK(q <= children[0].best + 1e-12);
    }
  }
}

TEST_CASE("mean_max weighs children by edge visits and mixes mean and best by beta") {
  const std::vector<ChildTerm> children{{.edge_visits = 3, .value = 2, .best = 9},
                                        {.edge_visits = 1, .value = -2, .best = 0}};
  const auto mixed = make_backup(search_options({{"backup", "mean_max"}, {"beta", 0.75}}));
  CHECK(mixed->node_value(1, children) == (1 + 3 * 2 - 2) / 5.0);
  CHECK(mixed->edge_value(2, 6) == 5);
  CHECK(make_backup(search_options({{"beta", 0}}))->edge_value(2, 6) == 2);
  CHECK(make_backup(search_options({{"beta", 1}}))->edge_value(2, 6) == 6);
}

TEST_CASE("the widen arm is always offered and competes at own reward - rho sigma") {
  const auto arm = make_widening(search_options({{"widening", "arm"}, {"rho", 0.5}}));
  CHECK(arm->offer(1000, 100, 1));
  CHECK(!arm->forced());
  CHECK(arm->first_play_value(2, 7, 0.5) == 1.75);
}

TEST_CASE("gated widening allows k visits^alpha children") {
  const auto gated = make_widening(
      search_options({{"widening", "gated"}, {"widening_k", 2}, {"widening_alpha", 0.5}}));
  CHECK(gated->forced());
  CHECK(gated->offer(1, 1, 5));
  CHECK(!gated->offer(1, 2, 5));
  CHECK(gated->offer(9, 5, 5));
  CHECK(!gated->offer(9, 6, 5));
}

TEST_CASE("widening over all actions tries every one first") {
  const auto all = make_widening(search_options({{"widening", "all"}}));
  CHECK(all->forced());
  CHECK(all->offer(1, 1000, 1));
}

TEST_CASE("a run stops at its builds, its seconds or its patience, whichever comes first") {
  const auto stop =
      make_stop(run_options({{"budget_builds", 40}, {"budget_seconds", 1.5}, {"patience", 7}}));
  CHECK(stop->reason({.evaluations = 39, .since_improvement = 6, .seconds = 1.4}).empty());
  CHECK(stop->reason({.evaluations = 40}) == "40 builds");
  CHECK(stop->reason({.evaluations = 9, .seconds = 1.5}) == "1.5 seconds");
  CHECK(stop->reason({.evaluations = 9, .since_improvement = 7}) ==
        "7 builds without a better one");
  CHECK(stop->reason({.evaluations = 40, .since_improvement = 7, .seconds = 2}) == "40 builds");
  CHECK(stop->remaining({}, 0) == 40);
  CHECK(stop->remaining({}, 39) == 1);
  CHECK(stop->remaining({}, 41) == 0);
}

TEST_CASE("a run stops at its share of the bound, or at its device seconds") {
  const auto stop =
      make_stop(run_options({{"budget_builds", 40}, {"until", 0.9}, {"budget_gpu_seconds", 2.5}}));
  CHECK(stop->needs_bound());
  CHECK(stop->reason({.device_seconds = 2.4, .bound_share = 0.89}).empty());
  CHECK(stop->reason({.bound_share = 0.9}) == "90 % of the bound");
  CHECK(stop->reason({.device_seconds = 2.5}) == "2.5 device seconds");
  CHECK_FALSE(make_stop(run_options({{"budget_builds", 40}}))->needs_bound());
}

TEST_CASE("seconds and patience of 0 never stop a run") {
  const auto stop =
      make_stop(run_options({{"budget_builds", 1000000}, {"budget_seconds", 0}, {"patience", 0}}));
  CHECK(stop->reason({.evaluations = 1000,
                      .since_improvement = 1000,
                      .seconds = 1e9,
                      .device_seconds = 1e9,
                      .bound_share = 1})
            .empty());
  CHECK(make_stop(run_options({{"budget_builds", 1}}))->reason({.evaluations = 1}) == "1 build");
}

TEST_SUITE_END();
