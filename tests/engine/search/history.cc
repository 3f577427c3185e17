#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/search/move_gains.h"
#include "engine/search/search.h"
#include "engine/search/strategy/history_options.h"
#include "tests/support/table_space.h"

using namespace warpath;

namespace {

// How many of the root's moves come first: all, or as many as by default.
constexpr double kAll = 1000, kSome = HistoryOptions().history_initial;

Options history(double dives = HistoryOptions().history_dives, double initial = kAll) {
  Options options;
  options.of<HistoryOptions>().history_dives = dives;
  options.of<HistoryOptions>().history_initial = initial;
  options.search.strategy = "history";
  options.search.root_noise_weight = 0;
  return options;
}

/// The places in the order in which they were evaluated.
std::vector<int> places_evaluated(const test::Table& table, const Options& options = history()) {
  test::TableSpace space(table);
  Search search(space, options, 1, test::TableSpace::key(0));
  std::vector<int> out;
  while (const auto dispatch = search.next()) {
    out.push_back(space.place(dispatch->node));
    search.complete(dispatch->sequence, space.evaluate(dispatch->node));
  }
  CHECK(search.idle() == Idle::exhausted);
  CHECK(search.violated_invariant().empty());
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("history");

TEST_CASE("the moves of a node of which nothing is known are tried by their priors descending") {
  const test::Table table{.actions = {{1, 2, 3}, {}, {}, {}},
                          .rewards = {0, -1, -1, -1},
                          .priors = {{0.2F, 0.5F, 0.3F}, {}, {}, {}}};
  CHECK(places_evaluated(table) == std::vector{2, 3, 1});
}

TEST_CASE(
    "without dives the best node is tried to its end, then the next best; of equal ones the "
    "newest") {
  const test::Table table{.actions = {{1, 2, 3}, {4, 5}, {6}, {7}, {}, {}, {}, {}},
                          .rewards = {0, 2, 1, 2, -3, -3, -3, -3},
                          .priors = {{0.5F, 0.3F, 0.2F}, {0.6F, 0.4F}, {1}, {1}, {}, {}, {}, {}}};
  CHECK(places_evaluated(table, history(0)) == std::vector{1, 2, 3, 7, 4, 5, 6});
}

TEST_CASE("as long as the best node has untried moves there is no dive") {
  // 0 -> 1, the best, whose moves all lose; moves of 0 are left over.
  test::Table table{.actions = {{1}, {}}, .rewards = {0, 5}};
  for (int place = 2; place < 42; ++place) {
    table.actions.emplace_back();
    table.rewards.push_back(-1);
    table.actions[place < 22 ? 0 : 1].push_back(place);
  }
  const std::vector<int> places = places_evaluated(table, history(1000, kSome));
  const auto after_root = std::ranges::find_if(places, [](int place) { return place >= 22; });
  REQUIRE(places.end() - after_root >= 20);
  CHECK(std::all_of(after_root, after_root + 20, [](int place) { return place >= 22; }));
}

TEST_CASE("what gained elsewhere is tried first, what lost there last, whatever their priors") {
  // Moves 7, 8 and 9 are offered at the root and again where move 9 leads.
  const test::Table table{.actions = {{1, 2, 3}, {}, {}, {4, 5, 6}, {}, {}, {}},
                          .rewards = {0, -1, -0.5, 1, 0, 0.5, 2},
                          .priors = {{0.5F, 0.3F, 0.2F}, {}, {}, {0.5F, 0.3F, 0.2F}, {}, {}, {}},
                          .labels = {{7, 8, 9}, {}, {}, {7, 8, 9}, {}, {}, {}}};
  CHECK(places_evaluated(table) == std::vector{1, 2, 3, 6, 5, 4});
}

TEST_CASE("a move never tried is expected to do what others of its kind did, until it is tried") {
  Gains gains(5, 0);
  const std::uint32_t root = gains.add_context({});
  const NodeMove four{.action = 0, .log_prior = 0, .label = 4, .family = 1};
  const NodeMove eight{.action = 1, .log_prior = 0, .label = 8, .family = 1};
  const NodeMove other{.action = 2, .log_prior = 0, .label = 9, .family = 2};
  gains.add(four, root, 1);
  gains.add({.action = 3, .log_prior = 0, .label = 7, .family = 3}, root, -1);
  gains.look_from(root);
  CHECK(gains.expected(eight, 0) > gains.expected(other, 0));
  gains.add(eight, root, -2);
  CHECK(gains.expected(eight, 0) < gains.expected(four, 0));
}

TEST_CASE("a kind of which much was tried is less of an unknown than one of which nothing was") {
  Gains gains(5, 0);
  const std::uint32_t root = gains.add_context({});
  for (std::uint64_t label = 1; label <= 4; ++label)
    gains.add({.action = 0, .log_prior = 0, .label = label, .family = 1}, root, 1);
  gains.look_from(root);
  const NodeMove known{.action = 0, .log_prior = 0, .label = 5, .family = 1},
      unknown{.action = 0, .log_prior = 0, .label = 6, .family = 2};
  CHECK(gains.expected(known, 0) == doctest::Approx(gains.expected(unknown, 0)));
  CHECK(gains.expected(known, 1) < gains.expected(unknown, 1));
}

TEST_CASE("after the kind of a move has lost, a move of another kind is tried before it") {
  // Moves 7, 8, 9 are of one kind, 10 of another.
  const test::Table table{.actions = {{1, 2, 3, 4}, {}, {}, {}, {}},
                          .rewards = {0, -1, -1, -1, 1},
                          .priors = {{0.4F, 0.3F, 0.2F, 0.1F}, {}, {}, {}, {}},
                          .labels = {{7, 8, 9, 10}, {}, {}, {}, {}},
                          .families = {{1, 1, 1, 2}, {}, {}, {}, {}}};
  CHECK(places_evaluated(table) == std::vector{1, 4, 2, 3});
}

TEST_CASE("the root's first moves are as many as its priors leave kinds to choose from") {
  // The likeliest of the root's 64 moves leads to the best, which has one of its own.
  const auto root_moves_before_that = [](std::uint64_t kinds) {
    test::Table table;
    table.actions.resize(66), table.labels.resize(66), table.families.resize(66);
    table.priors.resize(66);
    table.rewards.assign(66, 0.5);
    table.rewards[0] = 0;
    table.rewards[1] = 1;
    const auto offer = [&](std::size_t from, int place, float prior) {
      const auto label = static_cast<std::uint64_t>(place);
      table.actions[from].push_back(place);
      table.priors[from].push_back(prior);
      table.labels[from].push_back(label);
      table.families[from].push_back(1 + label % kinds);
    };
    for (int place = 1; place <= 64; ++place) offer(0, place, place == 1 ? 0.02F : 0.98F / 63);
    offer(1, 65, 1);
    const std::vector<int> places = places_evaluated(table, history(0, kSome));
    return std::ranges::find(places, 65) - places.begin();
  };
  CHECK(root_moves_before_that(64) == 57);  // 0.9 of 63
  CHECK(root_moves_before_that(16) == 14);
  CHECK(root_moves_before_that(1) == 1);
}

TEST_CASE(
    "first is the likeliest move of each kind of the root that is more than half as likely as any, "
    "and inner tuning waits for them") {
  // Kind 1 gains, and has more moves; kind 2 is nearly as likely, kind 3 less than half.
  const test::Table table{.actions = {{1, 2, 3, 4}, {}, {}, {}, {}},
                          .rewards = {0, 1, 0.5, 0.2, 0.1},
                          .priors = {{0.35F, 0.3F, 0.25F, 0.1F}, {}, {}, {}, {}},
                          .labels = {{7, 8, 9, 10}, {}, {}, {}, {}},
                          .families = {{1, 1, 2, 3}, {}, {}, {}, {}}};
  CHECK(places_evaluated(table) == std::vector{1, 3, 2, 4});
  test::TableSpace space(table);
  Search search(space, history(), 1, test::TableSpace::key(0));
  std::vector<bool> surveyed;
  while (const auto dispatch = search.next()) {
    surveyed.push_back(search.surveys());
    search.complete(dispatch->sequence, space.evaluate(dispatch->node));
  }
  CHECK(surveyed == std::vector{true, false, false, false});
}

TEST_CASE("a failure says nothing of a move elsewhere") {
  const test::Table table{.actions = {{1, 2, 3}, {}, {}, {4, 5}, {}, {}},
                          .rewards = {0, test::kFails, -0.5, 1, 0, 0},
                          .priors = {{0.5F, 0.3F, 0.2F}, {}, {}, {0.5F, 0.5F}, {}, {}},
                          .labels = {{7, 8, 9}, {}, {}, {8, 7}, {}, {}}};
  CHECK(places_evaluated(table) == std::vector{1, 2, 3, 5, 4});
}

TEST_CASE("a trial at a similar variant says more than one far away") {
  Gains gains(1, 0);
  const std::uint32_t root = gains.add_context({}), far = gains.add_context({1, 2, 3}),
                      near = gains.add_context({3, 1, 2, 4}), undone = gains.add_context({5, 5});
  const NodeMove move{.action = 0, .log_prior = 0, .label = 9};
  gains.add(move, root, -1);
  gains.add(move, far, 1);
  gains.look_from(near);
  CHECK(gains.expected(move, 0) > 0);
  gains.look_from(undone);  // the root again
  CHECK(gains.expected(move, 0) < 0);
}

TEST_CASE(
    "what runs the machine code of an earlier node comes last, and so do moves of a kind that "
    "twice changed nothing, there and below") {
  // Moves 7 are of one kind; from 0, and where it was tried before, it changes nothing.
  const test::Table table{
      .actions = {{1, 7, 2, 3}, {4}, {5, 6}, {}, {}, {}, {}, {}},
      .rewards = {0, 0.1, 0, -1, 9, 1, -2, 0},
      .priors = {{0.5F, 0.3F, 0.1F, 0.1F}, {1}, {0.9F, 0.1F}, {}, {}, {}, {}, {}},
      .labels = {{7, 7, 8, 9}, {10}, {7, 11}, {}, {}, {}, {}, {}}};
  test::TableSpace space(table);
  Search search(space, history(0), 1, test::TableSpace::key(0));
  std::vector<int> places;
  while (const auto dispatch = search.next()) {
    places.push_back(space.place(dispatch->node));
    Evaluation outcome = space.evaluate(dispatch->node);
    if (places.back() == 1 || places.back() == 7) outcome.twin = kRoot;
    search.complete(dispatch->sequence, outcome);
  }
  CHECK(places.front() == 1);
  const auto when = [&](int place) { return std::ranges::find(places, place) - places.begin(); };
  CHECK(when(6) < when(5));  // 5: by move 7 again
  CHECK(when(6) < when(4));  // 4: from 1, which is 0 again, though it was measured faster
  CHECK(places.size() == 7);
}

TEST_CASE(
    "a kind is one that changes little if its trials that changed nothing outnumber the others by "
    "two") {
  Gains gains(5, 0);
  const std::uint32_t root = gains.add_context({});
  const NodeMove move{.action = 0, .log_prior = 0, .label = 9, .family = 7};
  gains.add(move, root, std::nullopt);
  CHECK_FALSE(gains.changes_little(7));
  gains.add(move, root, std::nullopt);
  CHECK(gains.changes_little(7));
  gains.add(move, root, 0.5);
  CHECK_FALSE(gains.changes_little(7));
  CHECK_FALSE(gains.changes_little(8));
}

TEST_CASE("it goes on from variants that others asked for") {
  const test::Table table{.actions = {{1}, {}, {3}, {}}, .rewards = {0, -1, 1, 2}};
  test::TableSpace space(table);
  Search search(space, history(), 1, test::TableSpace::key(0));
  CHECK(search.takes_grafts());
  const auto graft = search.graft(NodeId{0}, test::TableSpace::key(2), 1);
  REQUIRE(graft);
  space.add(graft->node, 2);
  search.complete(graft->sequence, space.evaluate(graft->node));
  const auto next = search.next();
  REQUIRE(next);
  CHECK(space.place(next->node) == 3);
}

TEST_CASE("with nothing left to try it waits for what is under way, and is exhausted after that") {
  const test::Table table{.actions = {{1}, {2}, {}}, .rewards = {0, -1, -2}};
  test::TableSpace space(table);
  Search search(space, history(), 1, test::TableSpace::key(0));
  const auto first = search.next();
  REQUIRE(first);
  CHECK_FALSE(search.next());
  CHECK(search.idle() == Idle::waiting);
  search.complete(first->sequence, space.evaluate(first->node));
  const auto second = search.next();
  REQUIRE(second);
  search.complete(second->sequence, space.evaluate(second->node));
  CHECK_FALSE(search.next());
  CHECK(search.idle() == Idle::exhausted);
}

TEST_CASE("gains within the margin are none, and do not make others look greater") {
  const auto expected = [](double margin) {
    Gains gains(5, margin);
    const std::uint32_t root = gains.add_context({});
    const NodeMove idle{.action = 0, .log_prior = 0, .label = 1, .family = 1},
        unknown{.action = 0, .log_prior = 0, .label = 2, .family = 2};
    gains.add({.action = 0, .log_prior = 0, .label = 3, .family = 3}, root, 0.5);
    for (int i = 0; i < 50; ++i) gains.add(idle, root, i % 2 == 0 ? 0.001 : -0.001);
    gains.look_from(root);
    CHECK(gains.expected(idle, 1) < 0.1);
    return std::pair(gains.size(), gains.expected(unknown, 1));
  };
  CHECK(expected(0.005).first == 0.5);
  CHECK(expected(0).first < 0.02);
  CHECK(expected(0.005).second > expected(0).second);
}

TEST_CASE("moves that only seem to gain do not keep it from a move that does, at a worse node") {
  // 1 gains 1 and opens moves of one kind, of which one always seems to gain a little and opens
  // others; the best is behind 2, which loses.
  test::Table table{.actions = {{1, 2}, {}, {3}, {}},
                    .rewards = {0, 1, -0.1, 2},
                    .priors = {{0.6F, 0.4F}, {}, {1}, {}},
                    .labels = {{1, 2}, {}, {3}, {}},
                    .families = {{1, 2}, {}, {3}, {}}};
  std::size_t parent = 1;
  for (int level = 1; level <= 150; ++level) {
    const std::size_t first = table.actions.size();
    for (std::size_t i = 0; i < 6; ++i) {
      table.actions[parent].push_back(static_cast<int>(first + i));
      table.labels[parent].push_back(10 + i);
      table.families[parent].push_back(10);
      table.rewards.push_back(i == 5 ? 1 + 1e-5 * level : 0.999);
    }
    table.actions.resize(first + 6), table.labels.resize(first + 6);
    table.families.resize(first + 6), table.priors.resize(first + 6);
    table.priors[parent].assign(6, 1.0F / 6);
    parent = first + 5;
  }
  const std::vector<int> places = places_evaluated(table);
  CHECK(std::ranges::find(places, 3) - places.begin() < 100);
}

TEST_CASE(
    "a node is put off unless its moves promise a share of what it is worse than the best by") {
  // 1, the best, has no moves; 2 those of a kind that gains a little, 3, which is worse, an unknown
  // one.
  test::Table table{.actions = {{1, 2, 3}, {}, {24}, {25}},
                    .rewards = {0, 4, 1, 0.5},
                    .labels = {{1, 2, 3}, {}, {24}, {25}},
                    .families = {{1, 2, 3}, {}, {4}, {5}}};
  for (int place = 4; place < 24; ++place) {
    table.actions[0].push_back(place);
    table.labels[0].push_back(static_cast<std::uint64_t>(place));
    table.families[0].push_back(4);
    table.rewards.push_back(0.1);
  }
  table.rewards.insert(table.rewards.end(), {1.1, 0.5});
  table.actions.resize(26), table.labels.resize(26), table.families.resize(26);
  const auto last = [&](double shortfall) {
    Options options = history(0);
    options.of<HistoryOptions>().history_shortfall = shortfall;
    return places_evaluated(table, options).back();
  };
  CHECK(last(0) == 25);
  CHECK(last(0.1) == 24);
}

TEST_CASE("a dive goes on through losses where best first would turn to the next best node") {
  // 0 -> 1 -> 2 -> 3 loses until the last move; ten children of 0 and of those lose less.
  test::Table table{.actions = {{1}, {2}, {3}, {}}, .rewards = {0, -1.1, -1.2, 9}};
  for (int place = 4; place < 44; ++place) {
    const int parent = place < 14 ? 0 : 4 + (place - 14) / 3;
    table.actions.emplace_back();
    table.rewards.push_back(-1);
    table.actions[static_cast<std::size_t>(parent)].push_back(place);
  }
  const auto evaluations_until_the_best = [&](double dives) {
    Options options = history(dives);
    options.of<HistoryOptions>().history_temperature = 1;
    const std::vector<int> places = places_evaluated(table, options);
    return std::ranges::find(places, 3) - places.begin();
  };
  CHECK(evaluations_until_the_best(0) == 42);  // the last of all
  CHECK(evaluations_until_the_best(1) < 42);
}

TEST_SUITE_END();
