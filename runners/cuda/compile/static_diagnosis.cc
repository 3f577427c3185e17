#include "runners/cuda/compile/static_diagnosis.h"

#include <string>

#include "runners/cuda/code/access_facts.h"
#include "runners/cuda/code/cubin.h"
#include "runners/cuda/code/ptx_facts.h"
#include "runners/cuda/code/region_facts.h"

namespace warpath::cuda {
namespace {

/// Adds facts by name.
class Facts {
 public:
  explicit Facts(Diagnosis& diagnosis) : facts_(diagnosis.facts) {}
  template <class Number>
  void add(const std::string& name, Number value) {
    facts_[name] = {.value = static_cast<double>(value), .source = FactSource::static_analysis};
  }

 private:
  std::map<std::string, Fact, std::less<>>& facts_;
};

void add_machine_code(const CompileResult& code, Facts& facts) {
  facts.add("registers_per_thread", code.usage.registers);
  facts.add("barriers", code.usage.barriers);
  facts.add("spill_store_bytes", code.usage.spill_store_bytes);
  facts.add("spill_load_bytes", code.usage.spill_load_bytes);
  facts.add("local_bytes", code.usage.stack_bytes);
  facts.add("static_smem_bytes", code.usage.static_smem_bytes);
  std::string ignored;
  if (const auto cubin = read_cubin(code.cubin, code.lowered_name, ignored))
    facts.add("code_bytes", cubin->code_bytes);
}

void add_ptx(const PtxFacts& ptx, Facts& facts) {
  facts.add("ptx_instructions", ptx.total);
  for (const auto& [name, count] : ptx.instructions) facts.add("ptx_" + name, count);
  facts.add("ptx_vector_loads", ptx.vector_loads);
  facts.add("ptx_global_load_bytes", ptx.global_load_bytes);
  facts.add("ptx_global_store_bytes", ptx.global_store_bytes);
}

void add_launch(const LaunchNumbers& launch, const Occupancy& resident, Facts& facts) {
  facts.add("blocks", launch.grid[0] * launch.grid[1] * launch.grid[2]);
  facts.add("threads_per_block", launch.block[0] * launch.block[1] * launch.block[2]);
  facts.add("blocks_per_cluster", launch.cluster[0] * launch.cluster[1] * launch.cluster[2]);
  facts.add("dynamic_smem_bytes", launch.dynamic_smem_bytes);
  facts.add("blocks_per_sm", resident.blocks_per_sm);
  facts.add("active_warps_per_sm", resident.active_warps_per_sm);
  facts.add("occupancy", resident.fraction);
  facts.add("waves", resident.waves);
  facts.add("tail_fraction", resident.tail_fraction);
  if (!resident.limit.empty())
    facts.add("occupancy_limit_" +
                  (resident.limit == "shared memory" ? "smem" : std::string(resident.limit)),
              1);
}

}  // namespace

BlockNeeds block_needs(const ResourceUsage& usage, const LaunchNumbers& launch) {
  return {.threads = static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2]),
          .registers_per_thread = usage.registers,
          .static_smem_bytes = usage.static_smem_bytes,
          .dynamic_smem_bytes = launch.dynamic_smem_bytes};
}

Diagnosis static_diagnosis(const CompileResult& code,
                           const PtxModule& ptx,
                           const LaunchNumbers& launch,
                           const DeviceLimits& device,
                           const std::map<std::size_t, std::int64_t>& parameters) {
  Diagnosis diagnosis;
  Facts facts(diagnosis);
  add_machine_code(code, facts);
  add_ptx(ptx_facts(ptx, code.lowered_name), facts);
  const std::int64_t blocks = launch.grid[0] * launch.grid[1] * launch.grid[2];
  add_launch(launch, occupancy(device, block_needs(code.usage, launch), blocks), facts);
  if (const PtxFunction* const entry = ptx.entry(code.lowered_name); entry != nullptr) {
    const PtxLaunch known{.parameters = parameters, .block = launch.block, .grid = launch.grid};
    const RegionGraph graph = region_graph(*entry, known);
    add_region_facts(*entry, graph, known, diagnosis);
    add_access_facts(*entry, graph, known, diagnosis);
  }
  return diagnosis;
}

}  // namespace warpath::cuda
