#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

#include "engine/base/rng.h"
#include "engine/json/json_reader.h"
#include "engine/run/kernel_space.h"
#include "engine/spec/spec_load.h"
#include "moves/model/facts.h"
#include "moves/propose/rule_proposer.h"
#include "moves/syntax/unit.h"
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
  const MoveRegistry& moves = registered_moves();
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

class Even final : public Prior {
 public:
  [[nodiscard]] std::string_view name() const override { return "even"; }
  void evaluate(const ProposalContext&,
                const std::vector<Proposal>& proposals,
                std::vector<double>& out) override {
    out.assign(proposals.size(), 1.0 / static_cast<double>(proposals.size()));
  }
};

/// The rules; `carries`: what their moves made comes with the proposals.
class Rules final : public Proposer {
 public:
  Rules(const MoveRegistry& moves, bool carries) : rules_(moves), carries_(carries) {}
  [[nodiscard]] std::string_view name() const override { return rules_.name(); }
  [[nodiscard]] std::vector<Proposal> propose(const ProposalContext& context, Rng& rng) override {
    std::vector<Proposal> out = rules_.propose(context, rng);
    for (Proposal& p : out) {
      if (!carries_) p.made = nullptr;
    }
    return out;
  }

 private:
  RuleProposer rules_;
  bool carries_;
};

/// What a node costs from its opening until each of its actions was tried.
void bm_node(benchmark::State& bench, const std::string& name, bool carries) {
  std::vector<KernelSpec> specs = load_specs(WARPATH_SOURCE_ROOT "/specs/" + name + ".json");
  const MoveRegistry& moves = registered_moves();
  Rules rules(moves, carries);
  Even prior;
  std::vector<float> priors;
  for (auto _ : bench) {
    KernelSpace space({.spec = specs.front(),
                       .device = kDevice,
                       .moves = moves,
                       .proposers = {&rules},
                       .prior = prior},
                      {});
    space.open(NodeId{0}, priors);
    for (std::uint32_t i = 0; i < priors.size(); ++i)
      benchmark::DoNotOptimize(space.apply(NodeId{0}, i));
  }
  bench.counters["actions"] = static_cast<double>(priors.size());
}

std::vector<std::string> kernel_sources() {
  namespace fs = std::filesystem;
  std::vector<std::string> out;
  for (const char* const folder : {"/specs", "/tests/data/idioms"}) {
    for (const fs::directory_entry& file :
         fs::directory_iterator(WARPATH_SOURCE_ROOT + std::string(folder)))
      if (file.path().extension() == ".cu")
        out.push_back(read_text_file(file.path().string(), 1 << 20, "a kernel"));
  }
  return out;
}

/// The syntax trees of kernels, and, if wanted, what is known of each.
void bm_parse(benchmark::State& bench, bool facts) {
  const std::vector<std::string> sources = kernel_sources();
  std::int64_t bytes = 0;
  while (bench.KeepRunning()) {
    for (const std::string& source : sources) {
      bytes += std::ssize(source);
      const model::Unit unit = model::parse(source);
      for (const model::Function* function : unit.functions()) {
        if (facts && function->is_global && function->body != nullptr)
          benchmark::DoNotOptimize(model::analyse(unit, *function, {.parameters_apart = true}));
      }
    }
  }
  bench.SetBytesProcessed(bytes);
}

BENCHMARK_CAPTURE(bm_parse, tree, false)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_parse, tree_and_facts, true)->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(bm_propose, softmax_scaled, std::string("softmax_scaled"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_propose, gemm_bf16_nt, std::string("gemm_bf16_nt"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_propose, attention_causal, std::string("attention_causal"))
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_propose, stencil3d_r4, std::string("stencil3d_r4"))
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(bm_node, softmax_carried, std::string("softmax_scaled"), true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_node, softmax_applied_again, std::string("softmax_scaled"), false)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_node, gemm_carried, std::string("gemm_bf16_nt"), true)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(bm_node, gemm_applied_again, std::string("gemm_bf16_nt"), false)
    ->Unit(benchmark::kMillisecond);

}  // namespace

BENCHMARK_MAIN();
