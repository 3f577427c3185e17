#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "runners/cuda/code/ptx_loops.h"

namespace warpath::cuda {

using Amounts = std::map<std::string, double, std::less<>>;

/// Instructions that run together: part of a basic block up to the next barrier, wait or fence.
struct PtxRegion {
  std::size_t first = 0, last = 0;  ///< instructions [first, last)
  int loop = -1;                    ///< index of the innermost loop; -1: none
  /// per thread: product of the trip counts around it; an unknown loop counts once
  double executions = 1;
  std::string ends_by;  ///< "barrier", "async_wait", "fence", "branch", "label", "end"
  /// static instruction counts by op_class
  std::map<std::string, std::int64_t, std::less<>> classes;
  /// Per thread and execution. bytes: global_load global_store shared_load shared_store async_copy
  /// local; operations: fp32 fp64 fp16 bf16 tensor int32 sfu (a multiply-add counts two; a
  /// tensor-core product is divided among its 32 lanes), instructions.
  Amounts bytes, operations;
  /// of the whole launch at the given rates, by resource; empty without rates
  Amounts time_ns;
  double longest_ns = 0;  ///< the largest of time_ns
};

/// flow: control may pass; back: to a loop head; barrier, async_wait, mem_fence: control passes
/// after a wait; async_dep: asynchronous copies of `from` are waited for in the region that ends
/// `to`.
struct RegionEdge {
  int from = 0, to = 0;
  std::string kind;
  bool operator==(const RegionEdge&) const = default;
};

struct RegionGraph {
  std::string entry;
  std::vector<PtxRegion> regions;
  std::vector<PtxLoop> loops;
  std::vector<RegionEdge> edges;
  /// regions of the path without back edges that is longest by longest_ns
  std::vector<int> critical_path;
  double critical_ns = 0;
  /// "loop 1 has no known trip count", "a wait without an asynchronous copy"
  std::vector<std::string> warnings;
  /// Sum over the regions of executions times amount, per thread.
  [[nodiscard]] double bytes(std::string_view kind) const;
  [[nodiscard]] double operations(std::string_view kind) const;
};

/// Rates of the whole device per second, by resource: dram (bytes of global memory), smem (bytes),
/// and operations as in PtxRegion.
using RegionRates = Amounts;

/// global_load global_store shared_load shared_store local async_copy async_wait barrier fence
/// mbarrier atomic compute sfu tensor warp_transfer data_move address control other.
[[nodiscard]] std::string_view op_class(const PtxInstruction& instruction);

/// The regions of one entry. Never throws; loops that cannot be counted are named in `warnings`.
[[nodiscard]] RegionGraph region_graph(const PtxFunction& function,
                                       const PtxLaunch& launch,
                                       const RegionRates& rates = {});

[[nodiscard]] nlohmann::json to_json(const RegionGraph& graph);
/// Graphviz: one box per region, solid edges for control, dashed ones for asynchronous dependences.
[[nodiscard]] std::string to_dot(const RegionGraph& graph);

}  // namespace warpath::cuda
