#include "runners/cuda/counters/metrics.h"

#include <cmath>
#include <optional>
#include <set>

#include "runners/cuda/counters/ncu_fields.h"

namespace warpath::cuda {
namespace {

using Source = MetricSource;

constexpr Source kTime[] = {{.numerator = "gpu__time_duration.sum"}};
constexpr Source kDramRead[] = {{.numerator = "dram__bytes_read.sum"},
                                {.numerator = "dram__bytes_op_read.sum"}};
constexpr Source kDramWritten[] = {{.numerator = "dram__bytes_write.sum"},
                                   {.numerator = "dram__bytes_op_write.sum"}};
constexpr Source kDramShare[] = {
    {.numerator = "dram__throughput.avg.pct_of_peak_sustained_elapsed", .scale = kPercent},
    {.numerator = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed", .scale = kPercent}};
constexpr Source kL2Share[] = {
    {.numerator = "lts__throughput.avg.pct_of_peak_sustained_elapsed", .scale = kPercent}};
constexpr Source kL1Share[] = {
    {.numerator = "l1tex__throughput.avg.pct_of_peak_sustained_active", .scale = kPercent},
    {.numerator = "l1tex__throughput.avg.pct_of_peak_sustained_elapsed", .scale = kPercent}};
constexpr Source kSmShare[] = {
    {.numerator = "sm__throughput.avg.pct_of_peak_sustained_elapsed", .scale = kPercent}};
constexpr Source kL2Hits[] = {
    {.numerator = "lts__t_sectors_lookup_hit.sum", .denominator = "lts__t_sectors.sum"},
    {.numerator = "lts__t_sector_hit_rate.pct", .scale = kPercent}};
constexpr Source kL1Hits[] = {
    {.numerator = "l1tex__t_sectors_lookup_hit.sum", .denominator = "l1tex__t_sectors.sum"},
    {.numerator = "l1tex__t_sector_hit_rate.pct", .scale = kPercent}};
constexpr Source kBusyShare[] = {
    {.numerator = "sm__cycles_active.avg", .denominator = "sm__cycles_elapsed.max"}};
constexpr Source kImbalance[] = {
    {.numerator = "sm__cycles_active.max", .denominator = "sm__cycles_active.avg"}};
constexpr Source kOccupancy[] = {
    {.numerator = "sm__warps_active.avg.pct_of_peak_sustained_active", .scale = kPercent}};
constexpr Source kIpc[] = {{.numerator = "sm__inst_executed.avg.per_cycle_active"},
                           {.numerator = "smsp__inst_executed.avg.per_cycle_active", .scale = 4}};
constexpr Source kIssueShare[] = {
    {.numerator = "smsp__issue_active.avg.pct_of_peak_sustained_active", .scale = kPercent},
    {.numerator = "smsp__issue_active.avg.per_cycle_active"}};
constexpr Source kEligible[] = {{.numerator = "smsp__warps_eligible.avg.per_cycle_active"}};
constexpr Source kInstructions[] = {{.numerator = "smsp__inst_executed.sum"},
                                    {.numerator = "sm__inst_executed.sum"}};
constexpr Source kThreads[] = {
    {.numerator = "smsp__thread_inst_executed.sum", .denominator = "smsp__inst_executed.sum"},
    {.numerator = "smsp__average_thread_inst_executed_per_inst_executed.ratio"},
    {.numerator = "smsp__thread_inst_executed_per_inst_executed.ratio"}};
constexpr Source kTensor[] = {
    {.numerator = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active",
     .scale = kPercent},
    {.numerator = "sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active",
     .scale = kPercent}};
constexpr Source kFma[] = {
    {.numerator = "sm__pipe_fma_cycles_active.avg.pct_of_peak_sustained_active", .scale = kPercent},
    {.numerator = "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active",
     .scale = kPercent}};
constexpr Source kFp64[] = {
    {.numerator = "sm__inst_executed_pipe_fp64.avg.pct_of_peak_sustained_active",
     .scale = kPercent},
    {.numerator = "sm__pipe_fp64_cycles_active.avg.pct_of_peak_sustained_active",
     .scale = kPercent}};
constexpr Source kAlu[] = {
    {.numerator = "sm__inst_executed_pipe_alu.avg.pct_of_peak_sustained_active", .scale = kPercent},
    {.numerator = "sm__pipe_alu_cycles_active.avg.pct_of_peak_sustained_active",
     .scale = kPercent}};
constexpr Source kXu[] = {
    {.numerator = "sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_active", .scale = kPercent}};
constexpr Source kLsu[] = {
    {.numerator = "sm__inst_executed_pipe_lsu.avg.pct_of_peak_sustained_active",
     .scale = kPercent}};

// A counted pair, or the ratio that Nsight Compute reports.
constexpr Source kLoadSectors[] = {
    {.numerator = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
     .denominator = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"},
    {.numerator = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio"}};
constexpr Source kStoreSectors[] = {
    {.numerator = "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
     .denominator = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"},
    {.numerator = "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_st.ratio"}};
constexpr Source kGlobalLoads[] = {
    {.numerator = "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum"}};
constexpr Source kGlobalStores[] = {
    {.numerator = "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum"}};
constexpr Source kLocalLoads[] = {{.numerator = "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum"}};
constexpr Source kLocalStores[] = {{.numerator = "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum"}};
constexpr Source kSharedLoadConflicts[] = {
    {.numerator = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum"}};
constexpr Source kSharedStoreConflicts[] = {
    {.numerator = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum"}};
constexpr Source kSharedWavefronts[] = {
    {.numerator = "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"}};

// Warp-cycles a reason over the warp-cycles in which no instruction was issued; the same from
// ratios a cycle that issues.
#define WARPATH_STALL(constant, reason)                                                    \
  constexpr Source constant[] = {                                                          \
      {.numerator = "smsp__warps_issue_stalled_" reason ".sum",                            \
       .denominator = "smsp__warps_active.sum",                                            \
       .less = "smsp__warps_issue_stalled_selected.sum"},                                  \
      {.numerator = "smsp__average_warps_issue_stalled_" reason "_per_issue_active.ratio", \
       .denominator = "smsp__average_warps_active_per_issue_active.ratio",                 \
       .less = "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio"}}
WARPATH_STALL(kLongScoreboard, "long_scoreboard");
WARPATH_STALL(kShortScoreboard, "short_scoreboard");
WARPATH_STALL(kMioThrottle, "mio_throttle");
WARPATH_STALL(kMathPipeThrottle, "math_pipe_throttle");
WARPATH_STALL(kLgThrottle, "lg_throttle");
WARPATH_STALL(kBarrier, "barrier");
WARPATH_STALL(kWait, "wait");
WARPATH_STALL(kMembar, "membar");
WARPATH_STALL(kNotSelected, "not_selected");
#undef WARPATH_STALL
constexpr Source kIssued[] = {
    {.numerator = "smsp__warps_issue_stalled_selected.sum",
     .denominator = "smsp__warps_active.sum"},
    {.numerator = "smsp__average_warps_issue_stalled_selected_per_issue_active.ratio",
     .denominator = "smsp__average_warps_active_per_issue_active.ratio"}};

constexpr Metric kMetrics[] = {
    {"profiled_time", "ns",
     "time of one launch as the counters' passes saw it, slower than when it is timed", kTime},
    {"dram_read_bytes", "byte", "read from device memory", kDramRead},
    {"dram_written_bytes", "byte", "written to device memory", kDramWritten},
    {"dram_throughput", "share", "of what device memory can do", kDramShare},
    {"l2_throughput", "share", "of what the level-2 cache can do, its busiest part", kL2Share},
    {"l1_throughput", "share", "of what level-1 cache and shared memory can do, their busiest part",
     kL1Share},
    {"sm_throughput", "share", "of what the multiprocessors can do, their busiest pipe or port",
     kSmShare},
    {"l2_hit_rate", "share", "of sectors looked up in the level-2 cache", kL2Hits},
    {"l1_hit_rate", "share", "of sectors looked up in the level-1 cache", kL1Hits},
    {"sm_busy", "share", "of the time during which a multiprocessor holds a warp, mean over all",
     kBusyShare},
    {"sm_imbalance", "ratio", "busy cycles of the busiest multiprocessor over the mean",
     kImbalance},
    {"achieved_occupancy", "share", "resident warps over the most that fit, while busy",
     kOccupancy},
    {"ipc", "instructions", "a multiprocessor and busy cycle", kIpc},
    {"issue_active", "share", "of busy cycles in which a scheduler issues", kIssueShare},
    {"eligible_warps", "warps", "ready to issue, a scheduler and busy cycle", kEligible},
    {"instructions", "count", "warp instructions executed", kInstructions},
    {"threads_per_instruction", "threads", "active, of the 32 of a warp", kThreads},
    {"tensor_pipe", "share", "of busy cycles in which the tensor pipe works", kTensor},
    {"fma_pipe", "share", "of what the fp32 and fp16 multiply-add pipe can do", kFma},
    {"fp64_pipe", "share", "of what the fp64 pipe can do", kFp64},
    {"alu_pipe", "share", "of what the integer and logic pipe can do", kAlu},
    {"xu_pipe", "share", "of what the special-function and conversion pipe can do", kXu},
    {"lsu_pipe", "share", "of what the load and store pipe can do", kLsu},
    {"load_sectors_per_request", "sectors",
     "32-byte sectors a warp-wide global load; 4 is ideal for 4-byte elements", kLoadSectors},
    {"store_sectors_per_request", "sectors",
     "32-byte sectors a warp-wide global store; 4 is ideal for 4-byte elements", kStoreSectors},
    {"global_load_requests", "count", "warp-wide loads from global memory", kGlobalLoads},
    {"global_store_requests", "count", "warp-wide stores to global memory", kGlobalStores},
    {"local_load_sectors", "sectors", "loaded from local memory: spills and indexed arrays",
     kLocalLoads},
    {"local_store_sectors", "sectors", "stored to local memory", kLocalStores},
    {"shared_load_conflicts", "count", "extra passes over the banks by shared-memory loads",
     kSharedLoadConflicts},
    {"shared_store_conflicts", "count", "extra passes over the banks by shared-memory stores",
     kSharedStoreConflicts},
    {"shared_wavefronts", "count", "passes over the banks of shared memory, conflicts included",
     kSharedWavefronts},
    {"stall_long_scoreboard", "share", "waits for global, local or texture memory",
     kLongScoreboard},
    {"stall_short_scoreboard", "share", "waits for shared memory or special functions",
     kShortScoreboard},
    {"stall_mio_throttle", "share",
     "waits for room in the queue of shared memory and special functions", kMioThrottle},
    {"stall_math_pipe_throttle", "share", "waits for an arithmetic pipe", kMathPipeThrottle},
    {"stall_lg_throttle", "share", "waits for room in the queue of global and local memory",
     kLgThrottle},
    {"stall_barrier", "share", "waits for other warps at a block barrier", kBarrier},
    {"stall_wait", "share", "waits for an instruction of fixed latency", kWait},
    {"stall_membar", "share", "waits for a memory fence", kMembar},
    {"stall_not_selected", "share", "ready, but another warp was issued", kNotSelected},
    {"issued_share", "share", "of all warp-cycles that issue an instruction", kIssued},
};

/// The value of a counter; `otherwise` for the empty name.
std::optional<double> reading(const Readings& counters, std::string_view name, double otherwise) {
  if (name.empty()) return otherwise;
  const auto found = counters.find(name);
  if (found == counters.end() || !std::isfinite(found->second)) return std::nullopt;
  return found->second;
}

}  // namespace

std::span<const Metric> metrics() {
  return kMetrics;
}

std::vector<ResolvedMetric> resolve_metrics(std::span<const Metric> wanted,
                                            const std::function<bool(std::string_view)>& offered) {
  const auto has = [&](std::string_view name) { return name.empty() || offered(name); };
  std::vector<ResolvedMetric> resolved;
  for (const Metric& metric : wanted) {
    for (const MetricSource& source : metric.sources) {
      if (!has(source.numerator) || !has(source.denominator) || !has(source.less)) continue;
      resolved.push_back({metric, source});
      break;
    }
  }
  return resolved;
}

std::vector<std::string> counter_names(std::span<const ResolvedMetric> resolved) {
  std::set<std::string_view> names;
  for (const ResolvedMetric& each : resolved) {
    for (const std::string_view name :
         {each.source.numerator, each.source.denominator, each.source.less}) {
      if (!name.empty()) names.insert(name);
    }
  }
  return {names.begin(), names.end()};
}

Readings metric_values(std::span<const ResolvedMetric> resolved, const Readings& counters) {
  Readings values;
  for (const ResolvedMetric& each : resolved) {
    const auto numerator = reading(counters, each.source.numerator, 0);
    const auto denominator = reading(counters, each.source.denominator, 1);
    const auto less = reading(counters, each.source.less, 0);
    if (!numerator || !denominator || !less || !(*denominator - *less > 0)) continue;
    values.emplace(each.metric.name, each.source.scale * *numerator / (*denominator - *less));
  }
  return values;
}

void add_facts(const Readings& values, Diagnosis& diagnosis) {
  for (const auto& [name, value] : values) diagnosis.facts[name] = {value, FactSource::measured};
}

}  // namespace warpath::cuda
