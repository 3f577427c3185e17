#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"

namespace warpath {

constexpr std::int64_t kWarpLanes = 32;

/// Threads that share one row, and the names under which the emitted code speaks of them.
struct LaneGroup {
  std::int64_t lanes = 0;              ///< all threads of a row: a power of two
  std::int64_t cluster = 1;            ///< blocks that share a row
  std::string lane = "lane";           ///< local with the thread's place, 0 .. lanes - 1
  std::string lanes_name = "LANES";    ///< its constant
  std::string mask = "row_mask";       ///< of a group smaller than a warp
  std::string step = "d", part = "k";  ///< loop variables
  std::string send, barrier;           ///< helpers of a cluster; see cluster_helpers
  [[nodiscard]] std::int64_t block() const { return lanes / cluster; }
  [[nodiscard]] bool within_warp() const { return lanes <= kWarpLanes; }
};

/// A partial result that every lane of a group holds.
struct Partial {
  std::string variable;
  std::string type;
  model::ReduceOp op = model::ReduceOp::add;
};

/// "v += w" or "v = fmaxf(v, w)" with a semicolon.
[[nodiscard]] std::string update_text(const Partial& partial, std::string_view other);

/// Statements that leave the combination of all lanes' values in every lane: shuffles, over a block
/// also one shared array a variable (`names`, one each), over a cluster a second one. `again`: the
/// place is reached more than once, so the arrays of the last time must have been read. Lines end
/// in "\n" and are not indented.
[[nodiscard]] std::string combine_lanes(const LaneGroup& group,
                                        const std::vector<Partial>& partials,
                                        const std::vector<std::string>& names,
                                        bool again,
                                        std::string_view indent_unit);

/// Device functions `send` and `barrier` of a group that spans a cluster (sm_90), to stand before
/// the kernel.
[[nodiscard]] std::string cluster_helpers(const LaneGroup& group, std::string_view indent_unit);

/// The first of `wishes` that nothing in the file is called; else a fresh name like the first.
/// Added to `taken`.
[[nodiscard]] std::string free_name(const model::Unit& unit,
                                    std::initializer_list<std::string_view> wishes,
                                    std::set<std::string, std::less<>>& taken);

/// The text with all lines but the first indented: what stands behind the indentation of its first
/// line.
[[nodiscard]] std::string hanging(std::string_view text, std::string_view indent);

/// `name` is one of the functions that cluster_helpers writes, so that its effects are known.
[[nodiscard]] bool is_cluster_helper(const model::Unit& unit, std::string_view name);

/// The first call of the kernel whose effect on memory is unknown; empty if there is none. Helpers
/// of clusters are known.
[[nodiscard]] std::string unknown_call(const model::KernelModel& model);

/// The count E of work items of a plan whose grid.x is ceil_div(E, block.x) in any spelling;
/// nullopt otherwise.
[[nodiscard]] std::optional<Expression> items_of(const LaunchPlan& plan);

/// True if a workload has a plan of its own, which a changed plan would replace.
[[nodiscard]] bool has_workload_plans(const KernelSpec& spec);

/// All of clusters, mapa and barrier.cluster exist there.
[[nodiscard]] bool has_clusters(const DeviceFacts& device);

}  // namespace warpath
