#include <benchmark/benchmark.h>

#include <string>

#include "engine/base/rng.h"
#include "engine/spec/spec_load.h"
#include "moves/propose/rule_proposer.h"
#include "register_moves.h"

namespace {

using namespace warpath;

const DeviceFacts kDevice{.runner = "cuda",
                          .name = "a large GPU",
                          .arch = "sm_90a",
                          .multiprocessors = 132,
                          .max_smem_per_block_bytes = 227 << 10,
                          .is_gpu = true};

/// What opening a node costs: all moves listed, applied and sorted, at the naive kernel of a spec.
void bm_propose(benchmark::State& bench, const std::string& name) {
  std::vector<KernelSpec> specs = load_specs(WARPATH_SOURCE_ROOT "/specs/" + name + ".json");
  const Variant naive = baseline_variant(specs.front());
  MoveRegistry moves("move");
  register_moves(moves);
  RuleProposer proposer(moves);
  std::size_t proposals = 0;
  for (auto _ : bench) {
    Rng rng(1, "propose");
    const std::vector<Proposal> found = proposer.propose(
        {.at = {specs.front(), naive, kDevice}, .node_key = variant_key(naive)}, rng);
    proposals = found.size();
  }
  bench.counters["proposals"] = static_cast<double>(proposals);
}

BENCHMARK_CAPTURE(bm_propose, softmax_scaled, std::string("softmax_scaled"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_propose, gemm_bf16_nt, std::string("gemm_bf16_nt"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_propose, attention_causal, std::string("attention_causal"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_propose, stencil3d_r4, std::string("stencil3d_r4"))
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
