#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "engine/search/search.h"
#include "engine/search/strategy_state.h"
#include "register_backups.h"
#include "register_selections.h"
#include "register_widenings.h"
#include "tests/support/figure.h"
#include "tests/support/graph_arenas.h"
#include "tests/support/table_space.h"

using namespace warpath;
using test::random_table;
using test::Table;
using test::TableSpace;

namespace {

/// One call of a search, as a record would hold it.
struct Call {
  enum class Kind : std::uint8_t { next, complete, graft };
  Kind kind = Kind::next;
  std::uint64_t sequence = 0;  ///< complete
  Evaluation evaluation;       ///< complete
  NodeId node = kNoNode;       ///< graft: the parent
  int place = 0;               ///< graft
};

void apply(Search& search, TableSpace& space, const Call& call) {
  switch (call.kind) {
    case Call::Kind::next:
      static_cast<void>(search.next());
      break;
    case Call::Kind::complete:
      search.complete(call.sequence, call.evaluation);
      break;
    case Call::Kind::graft:
      if (const auto made = search.graft(call.node, TableSpace::key(call.place), 0.5F))
        space.add(made->node, call.place);
      break;
  }
}

/// A call that is legal now.
Call random_call(const Search& search, const TableSpace& space, const Table& table, Rng& rng) {
  const std::vector<Search::State::Pending> in_flight = search.state().pending;
  const std::uint64_t choice = rng.below(20);
  if (choice < 2) {
    const NodeId node{static_cast<std::uint32_t>(rng.below(search.graph().node_count()))};
    if (search.graph()[node].state == NodeState::measured) {
      const auto place = static_cast<int>(rng.below(table.rewards.size()));
      return {
          .kind = Call::Kind::graft, .sequence = 0, .evaluation = {}, .node = node, .place = place};
    }
  }
  if (choice < 10 && !in_flight.empty()) {
    const Dispatch& d = in_flight[rng.below(in_flight.size())].dispatch;
    const Evaluation evaluation = rng.below(8) == 0 ? Evaluation{} : space.evaluate(d.node);
    return {.kind = Call::Kind::complete,
            .sequence = d.sequence,
            .evaluation = evaluation,
            .node = kNoNode,
            .place = 0};
  }
  return {};
}

/// O_e of every edge, as the paths in flight say.
std::vector<std::uint32_t> counted_in_flight(const Search& search) {
  std::vector<std::uint32_t> out(search.graph().edge_count());
  for (const auto& pending : search.state().pending) {
    for (const EdgeId e : pending.path) ++out[index(e)];
  }
  return out;
}

std::vector<std::uint32_t> in_flight_of(const Search& search) {
  std::vector<std::uint32_t> out;
  for (std::uint32_t i = 0; i < search.graph().edge_count(); ++i)
    out.push_back(search.in_flight(EdgeId{i}));
  return out;
}

/// Those of every registered policy.
template <class Registry>
std::vector<std::string> names_of(void (*add)(Registry&)) {
  Registry registry("");
  add(registry);
  std::vector<std::string> out;
  for (const auto& [name, unused] : registry.entries()) out.push_back(name);
  return out;
}

Options random_options(Rng& rng) {
  const auto pick = [&](const std::vector<std::string>& names) {
    return names[rng.below(names.size())];
  };
  Options options;
  static const auto kSelections = names_of<SelectionRegistry>(register_selections);
  static const auto kBackups = names_of<BackupRegistry>(register_backups);
  static const auto kWidenings = names_of<WideningRegistry>(register_widenings);
  options.search.selection = pick(kSelections);
  options.search.backup = pick(kBackups);
  options.search.widening = pick(kWidenings);
  options.search.sharing = pick({"graph", "graph", "tree"});
  options.search.parallel = pick({"unobserved", "ignored"});
  options.search.max_depth = options.search.sharing == "tree" ? 4 : 64;
  options.search.root_noise_weight = rng.below(2) == 0 ? 0 : 0.25;
  return options;
}

/// WARPATH_FUZZ_SEEDS=26000 makes a million steps.
std::uint64_t fuzz_seeds() {
  const char* const text = std::getenv("WARPATH_FUZZ_SEEDS");
  return text == nullptr ? 150 : std::strtoull(text, nullptr, 10);
}

}  // namespace

TEST_SUITE_BEGIN("search_fuzz");

TEST_CASE(
    "any interleaving of calls keeps every invariant, replays bit for bit, and resumes from any "
    "snapshot") {
  std::uint64_t steps = 0;
  for (std::uint64_t seed = 0; seed < fuzz_seeds(); ++seed) {
    CAPTURE(seed);
    Rng rng(seed, "fuzz");
    const Table table = random_table(rng, 16, 0.15);
    const Options options = random_options(rng);
    CAPTURE(options.search.widening);
    CAPTURE(options.search.sharing);
    TableSpace space(table);
    Search search(space, options, seed, TableSpace::key(0));
    const std::size_t calls = 10 + rng.below(60);
    steps += calls;
    const std::size_t snapshot_at = rng.below(calls);
    test::Arenas arenas;
    Search::State state;
    StrategyState strategy;
    std::vector<int> places;
    std::vector<Call> journal;
    for (std::size_t i = 0; i < calls; ++i) {
      if (i == snapshot_at)
        arenas = test::arenas_of(search.graph()), state = search.state(), search.keep(strategy),
        places = space.places();
      journal.push_back(random_call(search, space, table, rng));
      apply(search, space, journal.back());
      REQUIRE(search.violated_invariant() == "");
      // asking counts: not always
      if (i % 3 == 0) REQUIRE(in_flight_of(search) == counted_in_flight(search));
    }

    TableSpace replay_space(table);
    Search replayed(replay_space, options, seed, TableSpace::key(0));
    for (const Call& call : journal) apply(replayed, replay_space, call);
    CHECK(replayed.fingerprint() == search.fingerprint());

    Graph graph = test::graph_of(arenas, "snapshot");
    TableSpace resumed_space(table, std::move(places));
    Search resumed(resumed_space, options, seed, std::move(graph), state, "snapshot");
    const std::string kept = strategy.take();
    StrategyState reader(kept, resumed.graph().node_count(), "snapshot");
    resumed.keep(reader);
    for (std::size_t i = snapshot_at; i < calls; ++i) {
      REQUIRE(resumed.violated_invariant() == "");
      if (i % 5 == 0) REQUIRE(in_flight_of(resumed) == counted_in_flight(resumed));
      apply(resumed, resumed_space, journal[i]);
    }
    CHECK(resumed.fingerprint() == search.fingerprint());
  }
  testing::report_figure("search_fuzz_steps", steps);
}

TEST_SUITE_END();
