#include "runners/cuda/code/region_facts.h"

#include <algorithm>
#include <set>
#include <string>

namespace warpath::cuda {
namespace {

bool uses_any(const PtxInstruction& instruction, const std::set<std::string_view>& loaded) {
  const bool stores = instruction.opcode == "st";
  for (std::size_t i = stores ? 0 : 1; i < instruction.operands.size(); ++i) {
    for (const std::string_view name : ptx_registers(instruction.operands[i])) {
      if (loaded.contains(name)) return true;
    }
  }
  return false;
}

/// Global loads of the region up to the first instruction that uses one of them.
int loads_in_flight(const PtxFunction& function, const PtxRegion& region) {
  std::set<std::string_view> loaded;
  int loads = 0;
  for (std::size_t i = region.first; i < region.last; ++i) {
    const PtxInstruction& instruction = function.instructions[i];
    if (uses_any(instruction, loaded)) break;
    if (op_class(instruction) != "global_load" || instruction.operands.empty()) continue;
    ++loads;
    for (const std::string_view name : ptx_registers(instruction.operands.front()))
      loaded.insert(name);
  }
  return loads;
}

}  // namespace

void add_region_facts(const PtxFunction& function,
                      const RegionGraph& graph,
                      const PtxLaunch& launch,
                      Diagnosis& diagnosis) {
  const auto uncounted =
      std::ranges::count_if(graph.loops, [](const PtxLoop& loop) { return !loop.trips; });
  const FactSource source = uncounted == 0 ? FactSource::static_analysis : FactSource::assumed;
  const double threads = launch.threads();
  const auto add = [&](const std::string& name, double value) {
    diagnosis.facts[name] = {value, source};
  };
  const double copied = graph.bytes("async_copy");
  add("work_global_bytes",
      threads * (graph.bytes("global_load") + graph.bytes("global_store") + copied));
  add("work_shared_bytes",
      threads * (graph.bytes("shared_load") + graph.bytes("shared_store") + copied));
  for (const char* kind : {"instructions", "fp32", "fp64", "tensor", "int32", "sfu"}) {
    add(std::string("work_") + kind, threads * graph.operations(kind));
  }
  double atomics = 0, barriers = 0;
  const PtxRegion* hottest = nullptr;
  for (const PtxRegion& region : graph.regions) {
    const auto count = [&](const char* name) {
      const auto it = region.classes.find(name);
      return it == region.classes.end() ? 0.0 : region.executions * static_cast<double>(it->second);
    };
    atomics += count("atomic");
    barriers += count("barrier");
    if (region.loop < 0 || count("global_load") <= 0) continue;
    if (hottest == nullptr || region.executions > hottest->executions) hottest = &region;
  }
  add("work_atomics", threads * atomics);
  add("work_barriers", barriers);
  if (hottest != nullptr)
    diagnosis.facts["loop_loads_in_flight"] = {
        static_cast<double>(loads_in_flight(function, *hottest)), FactSource::static_analysis};
  diagnosis.facts["loops_uncounted"] = {static_cast<double>(uncounted),
                                        FactSource::static_analysis};
}

}  // namespace warpath::cuda
