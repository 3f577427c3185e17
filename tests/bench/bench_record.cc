#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "engine/base/temporary_folder.h"
#include "engine/log/event_log.h"
#include "engine/log/events.h"
#include "engine/spec/spec_load.h"
#include "engine/spec/variant.h"

namespace {

using namespace warpath;

/// The key of a variant: its source cut into tokens, names renamed, launch and tunables hashed.
/// Bytes are those of the source.
void bm_key(benchmark::State& bench, const std::string& name) {
  const std::vector<KernelSpec> specs = load_specs(WARPATH_SOURCE_ROOT "/specs/" + name + ".json");
  const Variant variant = baseline_variant(specs.front());
  for (auto _ : bench) benchmark::DoNotOptimize(variant_key(variant));
  bench.SetBytesProcessed(static_cast<std::int64_t>(bench.iterations()) *
                          static_cast<std::int64_t>(variant.source.size()));
}

/// An outcome of 20 samples and 15 gates encoded and appended to a log. `always`: on the disk when
/// the call returns.
void bm_journal_append(benchmark::State& bench, SyncRule rule) {
  Outcome outcome;
  outcome.status = Status::ok;
  outcome.timings = {{.workload = "default",
                      .samples_ns = std::vector<double>(20, 131072.5),
                      .launch = {},
                      .cache = "cold"}};
  for (int gate = 0; gate < 15; ++gate)
    outcome.verdict.gates.push_back({"gate_" + std::to_string(gate), GateResult::Answer::pass, ""});
  const TemporaryFolder folder;
  std::uint64_t sequence = 0;
  {
    EventWriter log =
        EventWriter::create(folder / "events.jsonl", encode(SessionEvent{.at = 0}), rule);
    for (auto _ : bench)
      log.append(
          encode(OutcomeEvent{.sequence = sequence++, .outcome = outcome, .at = 1, .seconds = 1}),
          true);
    bench.SetBytesProcessed(static_cast<std::int64_t>(log.position().bytes));
  }
  bench.SetItemsProcessed(static_cast<std::int64_t>(sequence));
}

BENCHMARK_CAPTURE(bm_key, softmax_scaled, std::string("softmax_scaled"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_key, attention_causal, std::string("attention_causal"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_journal_append, never, SyncRule::never)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_journal_append, always, SyncRule::always)->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
