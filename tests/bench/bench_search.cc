#include <benchmark/benchmark.h>

#include <unistd.h>

#include <cstdint>
#include <fstream>

#include "engine/options.h"
#include "engine/search.h"
#include "tests/support/lattice_space.h"

namespace {

using namespace warpath;
using test::LatticeSpace;

/// Resident memory of this process.
double resident_bytes() {
  std::uint64_t pages = 0, resident = 0;
  std::ifstream("/proc/self/statm") >> pages >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE));
}

/// Grows a search over the lattice from nothing to `range(0)` nodes, one evaluation at a time. An item is a playout; a selection
/// is one choice among the arms of a node; bytes_per_node is everything: arenas, table, edges and the space's own points.
void bm_search(benchmark::State& bench, int knobs, int deepest) {
  const auto nodes = static_cast<std::uint32_t>(bench.range(0));
  double selections = 0, playouts = 0, bytes = 0, edges = 0;
  for (auto _ : bench) {
    const double before = resident_bytes();
    LatticeSpace space(knobs, 4, deepest);
    Search search(space, SearchOptions{}, 1, LatticeSpace::root_key());
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

/// The toy itself, to its end: 36 814 nodes.
BENCHMARK_CAPTURE(bm_search, toy, 8, 12)->Arg(36814)->Unit(benchmark::kMillisecond);
/// A lattice too large to exhaust.
BENCHMARK_CAPTURE(bm_search, large, 16, 24)->RangeMultiplier(10)->Range(100000, 1000000)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
