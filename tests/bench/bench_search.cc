#include <benchmark/benchmark.h>

#include <malloc.h>

#include <chrono>
#include <cstdint>
#include <fstream>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "engine/base/temporary_folder.h"
#include "engine/plugin/options.h"
#include "engine/plugin/policy.h"
#include "engine/run/snapshot.h"
#include "engine/search/search.h"
#include "engine/search/search_backup.h"
#include "tests/support/grid_space.h"
#include "tests/support/lattice_space.h"

namespace {

using namespace warpath;
using test::LatticeSpace;

Options strategy(const char* name) {
  Options out;
  out.search.strategy = name;
  return out;
}

/// Resident memory of this process, without what malloc keeps of what was freed.
double resident_bytes() {
  ::malloc_trim(0);
  std::uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Grows a search over the lattice from nothing to `range(0)` nodes, one evaluation at a time. An
/// item is a playout; a selection is one choice among the arms of a node; bytes_per_node is
/// everything: arenas, table, edges and the space's own points.
void bm_search(benchmark::State& bench, const char* name, int knobs, int deepest, int offered) {
  const auto nodes = static_cast<std::uint32_t>(bench.range(0));
  double selections = 0, playouts = 0, bytes = 0, edges = 0;
  for (auto _ : bench) {
    const double before = resident_bytes();
    LatticeSpace space(knobs, 4, deepest, offered);
    Search search(space, strategy(name), 1, LatticeSpace::root_key());
    while (search.graph().node_count() < nodes) {
      const auto d = search.next();
      if (!d) break;
      search.complete(d->sequence, space.evaluate(d->node));
    }
    benchmark::DoNotOptimize(search.best());
    const Graph& graph = search.graph();
    for (std::uint32_t i = 0; i < graph.edge_count(); ++i) selections += graph[EdgeId{i}].visits;
    playouts += static_cast<double>(graph.node_count() - 1);
    bytes = (resident_bytes() - before) / graph.node_count();
    edges = static_cast<double>(graph.edge_count()) / graph.node_count();
  }
  bench.SetItemsProcessed(static_cast<std::int64_t>(playouts));
  bench.counters["selections"] = benchmark::Counter(selections, benchmark::Counter::kIsRate);
  bench.counters["bytes_per_node"] = bytes;
  bench.counters["edges_per_node"] = edges;
}

/// A search over the large lattice, grown once a size.
struct Grown {
  explicit Grown(std::uint32_t nodes)
      : space(16, 4, 24), search(space, strategy("mcgs"), 1, LatticeSpace::root_key()) {
    while (search.graph().node_count() < nodes) {
      const auto d = search.next();
      search.complete(d->sequence, space.evaluate(d->node));
      rewards.push_back(space.evaluate(d->node).reward);
    }
  }
  static Grown& of(std::uint32_t nodes) {
    static std::map<std::uint32_t, std::unique_ptr<Grown>> all;
    auto& one = all[nodes];
    if (!one) one = std::make_unique<Grown>(nodes);
    return *one;
  }
  LatticeSpace space;
  Search search;
  std::vector<double> rewards;  // by sequence
};

/// Playouts of a search that has `range(0)` nodes, by parts. `backing_up`: the outcome's way to the
/// root, B included; else selection down to an untried action and the making of its node.
void bm_playout(benchmark::State& bench, bool backing_up) {
  using Clock = std::chrono::steady_clock;
  const auto nodes = static_cast<std::uint32_t>(bench.range(0));
  LatticeSpace space(16, 4, 24);
  Search search(space, strategy("mcgs"), 1, LatticeSpace::root_key());
  while (search.graph().node_count() < nodes) {
    const auto d = search.next();
    search.complete(d->sequence, space.evaluate(d->node));
  }
  for (auto _ : bench) {
    const auto begin = Clock::now();
    const auto d = search.next();
    const auto selected = Clock::now();
    const Evaluation evaluation = space.evaluate(d->node);
    const auto evaluated = Clock::now();
    search.complete(d->sequence, evaluation);
    bench.SetIterationTime(
        std::chrono::duration<double>(backing_up ? Clock::now() - evaluated : selected - begin)
            .count());
  }
  bench.SetItemsProcessed(static_cast<std::int64_t>(bench.iterations()));
}

/// A new best at the end of a chain of `range(0)` nodes: B rises along all of it.
void bm_raise_best(benchmark::State& bench) {
  Graph graph;
  for (std::int64_t i = 0; i < bench.range(0); ++i) {
    bool created = false;
    const NodeId node =
        graph.find_or_insert(Hasher().add(static_cast<std::uint64_t>(i)).digest(), 0, created);
    graph.measure(node, 0);
    if (i > 0) graph.add_edge(NodeId{index(node) - 1}, node, 0, 1);
  }
  const auto policy = make_backup(Options{});
  WideNodes wide;
  Backup backup(*policy, wide);
  double best = 0;
  for (auto _ : bench) {
    const NodeId last{graph.node_count() - 1};
    graph.measure(last, ++best);
    backup.raise_best(graph, NodeId{index(last) - 1}, best);
  }
  if (graph[NodeId{0}].best != best) bench.SkipWithError("B did not arrive at the root");
  bench.SetItemsProcessed(static_cast<std::int64_t>(bench.iterations()) * bench.range(0));
}

void save(const Grown& grown, const std::filesystem::path& path) {
  EdgeTexts links;
  save_snapshot(
      {.log = {}, .graph = grown.search.graph(), .state = grown.search.state(), .links = links},
      path, false);
}

/// From the snapshot in its file to a search that goes on, checked.
void bm_load(benchmark::State& bench) {
  Grown& grown = Grown::of(static_cast<std::uint32_t>(bench.range(0)));
  const TemporaryFolder folder;
  const auto path = folder / "search_state.json";
  save(grown, path);
  bool equal = true;
  for (auto _ : bench) {
    auto snapshot = load_snapshot(path);
    Search search(grown.space, strategy("mcgs"), 1, std::move(snapshot->graph),
                  std::move(snapshot->state), "bench");
    bench.PauseTiming();
    equal = equal && search.fingerprint() == grown.search.fingerprint();
    bench.ResumeTiming();
  }
  if (!equal) bench.SkipWithError("the loaded search differs");
}

/// The recorded outcomes put through a new search: an item is an event, of which a node has two.
void bm_replay(benchmark::State& bench) {
  Grown& grown = Grown::of(static_cast<std::uint32_t>(bench.range(0)));
  bool equal = true;
  for (auto _ : bench) {
    LatticeSpace space(16, 4, 24);
    Search search(space, strategy("mcgs"), 1, LatticeSpace::root_key());
    for (const double reward : grown.rewards) {
      const auto d = search.next();
      search.complete(d->sequence, {.ok = true, .reward = reward});
    }
    bench.PauseTiming();
    equal = equal && search.fingerprint() == grown.search.fingerprint();
    bench.ResumeTiming();
  }
  if (!equal) bench.SkipWithError("the replayed search differs");
  bench.SetItemsProcessed(static_cast<std::int64_t>(2 * grown.rewards.size()) *
                          static_cast<std::int64_t>(bench.iterations()));
}

/// A snapshot written, as pools where it is large.
void bm_save(benchmark::State& bench) {
  Grown& grown = Grown::of(static_cast<std::uint32_t>(bench.range(0)));
  const TemporaryFolder folder;
  for ([[maybe_unused]] auto _ : bench) save(grown, folder / "search_state.json");
}

/// Evaluations until the optimum of a small toy is found, with shared nodes and with a node a path:
/// the mean over eight seeds. `duplicates`: nodes a variant as of then.
void bm_to_optimum(benchmark::State& bench, const char* sharing) {
  constexpr int kKnobs = 5, kDeepest = 8, kSeeds = 8;
  constexpr std::uint32_t kMostNodes = 400'000;
  double evaluations = 0, nodes = 0, distinct = 0, found = 0;
  double optimum = 0;
  {
    LatticeSpace space(kKnobs, 4, kDeepest);
    Search all(space, strategy("mcgs"), 1, LatticeSpace::root_key());
    while (const auto d = all.next()) all.complete(d->sequence, space.evaluate(d->node));
    optimum = all.graph()[all.best()].reward;
  }
  for (auto _ : bench) {
    for (std::uint64_t seed = 1; seed <= kSeeds; ++seed) {
      LatticeSpace space(kKnobs, 4, kDeepest);
      Options options;
      options.search.sharing = sharing;
      Search search(space, options, seed, LatticeSpace::root_key());
      std::set<double> values;
      while (search.graph()[search.best()].reward < optimum &&
             search.graph().node_count() < kMostNodes) {
        const auto d = search.next();
        if (!d) break;
        const Evaluation evaluation = space.evaluate(d->node);
        values.insert(evaluation.reward);
        search.complete(d->sequence, evaluation);
      }
      found += search.graph()[search.best()].reward >= optimum ? 1 : 0;
      evaluations += search.graph().node_count() - 1.0;
      nodes += search.graph().node_count();
      distinct += static_cast<double>(values.size()) + 1;
    }
  }
  const double runs = kSeeds * static_cast<double>(bench.iterations());
  bench.counters["evaluations"] = evaluations / runs;
  bench.counters["duplicates"] = nodes / distinct;
  bench.counters["found"] = found / runs;
}

/// The guided strategy over ten tunables of eight values, `range(0)` evaluations one at a time: an
/// item is one of them, asked for and told.
void bm_guided(benchmark::State& bench) {
  const auto nodes = static_cast<std::uint32_t>(bench.range(0));
  for (auto _ : bench) {
    test::GridSpace space(10, 8);
    Options options;
    options.search.strategy = "guided";
    Search search(space, options, 1, space.root_key());
    while (search.graph().node_count() < nodes) {
      const auto d = search.next();
      search.complete(d->sequence, space.evaluate(d->node));
    }
    benchmark::DoNotOptimize(search.best());
  }
  bench.SetItemsProcessed(bench.range(0) * static_cast<std::int64_t>(bench.iterations()));
}

/// The toy itself, to its end: 36 814 nodes.
BENCHMARK_CAPTURE(bm_search, toy, "mcgs", 8, 12, 64)->Arg(36814)->Unit(benchmark::kMillisecond);
/// A lattice too large to exhaust.
BENCHMARK_CAPTURE(bm_search, large, "mcgs", 16, 24, 64)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_search, large, "mcgs", 16, 24, 64)
    ->Arg(10'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
/// The same by the default strategy of moves.
BENCHMARK_CAPTURE(bm_search, by_default, "auto", 16, 24, 64)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_playout, select, false)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Iterations(1000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_playout, back_up, true)
    ->RangeMultiplier(10)
    ->Range(1000, 1000000)
    ->Iterations(1000)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(bm_raise_best)
    ->RangeMultiplier(10)
    ->Range(1000, 10'000'000)
    ->Unit(benchmark::kMillisecond);
/// Lattices where fewer ways lead to a node, as moves do that need one another: about 3 and 1.9
/// edges a node in place of 5.
BENCHMARK_CAPTURE(bm_search, middle, "mcgs", 32, 24, 50)
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_search, sparse, "mcgs", 32, 24, 32)
    ->Arg(10000)
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_search, sparse, "mcgs", 32, 24, 32)
    ->Arg(10'000'000)
    ->Iterations(1)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(bm_guided)->Arg(40)->Arg(200)->Arg(1000)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_to_optimum, graph, "graph")->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_to_optimum, tree, "tree")->Iterations(1)->Unit(benchmark::kMillisecond);
BENCHMARK(bm_load)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(bm_save)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);
BENCHMARK(bm_replay)->RangeMultiplier(10)->Range(1000, 1000000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
