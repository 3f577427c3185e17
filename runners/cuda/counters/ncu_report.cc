#include "runners/cuda/counters/ncu_report.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <optional>

#include "engine/base/error.h"
#include "engine/base/format.h"
#include "runners/cuda/counters/ncu.h"
#include "runners/cuda/counters/ncu_fields.h"

namespace warpath::cuda {
namespace {

/// A metric of a details page and the fact it is. A label may stand for a share and for a rate,
/// told apart by the unit.
struct Label {
  std::string_view label;
  std::string_view fact;
  FactSource source = FactSource::measured;
  double scale = 1;
  std::string_view unit{};  ///< needed; empty: any
};
constexpr auto kStatic = FactSource::static_analysis;
constexpr auto kMeasured = FactSource::measured;
constexpr Label kLabels[] = {
    {"DRAM Throughput", "dram_throughput", kMeasured, kPercent, "%"},
    {"Compute (SM) Throughput", "sm_throughput", kMeasured, kPercent, "%"},
    {"Compute (SM) [%]", "sm_throughput", kMeasured, kPercent, "%"},
    {"SM [%]", "sm_throughput", kMeasured, kPercent, "%"},
    {"L1/TEX Cache Throughput", "l1_throughput", kMeasured, kPercent, "%"},
    {"L2 Cache Throughput", "l2_throughput", kMeasured, kPercent, "%"},
    {"Duration", "profiled_time"},
    {"L1/TEX Hit Rate", "l1_hit_rate", kMeasured, kPercent, "%"},
    {"L2 Hit Rate", "l2_hit_rate", kMeasured, kPercent, "%"},
    {"Executed Ipc Active", "ipc"},
    {"One or More Eligible", "issue_active", kMeasured, kPercent, "%"},
    {"Eligible Warps Per Scheduler", "eligible_warps"},
    {"Avg. Active Threads Per Warp", "threads_per_instruction"},
    {"Achieved Occupancy", "achieved_occupancy", kMeasured, kPercent, "%"},
    {"Theoretical Occupancy", "occupancy", kStatic, kPercent, "%"},
    {"Registers Per Thread", "registers_per_thread", kStatic},
    {"Waves Per SM", "waves", kStatic},
    {"Grid Size", "blocks", kStatic},
    {"Block Size", "threads_per_block", kStatic},
    {"Static Shared Memory Per Block", "static_smem_bytes", kStatic},
    {"Dynamic Shared Memory Per Block", "dynamic_smem_bytes", kStatic},
};
/// Labels that are parts of a fact.
constexpr std::string_view kDramRate = "Memory Throughput", kRateUnit = "byte/s",
                           kBlockLimit = "Block Limit ";

/// Raw columns beside those of metrics().
constexpr Label kColumns[] = {
    {"launch__registers_per_thread", "registers_per_thread", kStatic},
    {"launch__waves_per_multiprocessor", "waves", kStatic},
    {"launch__grid_size", "blocks", kStatic},
    {"launch__block_size", "threads_per_block", kStatic},
    {"launch__shared_mem_per_block_static", "static_smem_bytes", kStatic},
    {"launch__shared_mem_per_block_dynamic", "dynamic_smem_bytes", kStatic},
    {"sm__maximum_warps_per_active_cycle_pct", "occupancy", kStatic, kPercent},
};
constexpr std::string_view kLimitColumn = "launch__occupancy_limit_";

/// What bounds the blocks of a multiprocessor, by the words of both pages.
struct Limit {
  std::string_view details, raw, fact;
};
constexpr Limit kLimits[] = {{"Registers", "registers", "occupancy_limit_registers"},
                             {"Shared Mem", "shared_mem", "occupancy_limit_smem"},
                             {"Warps", "warps", "occupancy_limit_threads"},
                             {"SM", "blocks", "occupancy_limit_blocks"}};

/// What the sentence of a rule about a stall says, and the fact that it is a share of.
struct Sentence {
  std::string_view words, fact;
};
constexpr Sentence kSentences[] = {
    {"scoreboard dependency on a L1TEX", "stall_long_scoreboard"},
    {"scoreboard dependency on an L1TEX", "stall_long_scoreboard"},
    {"scoreboard dependency on a MIO", "stall_short_scoreboard"},
    {"scoreboard dependency on an MIO", "stall_short_scoreboard"},
    {"MIO (memory input/output) instruction queue", "stall_mio_throttle"},
    {"LG (local/global) instruction queue", "stall_lg_throttle"},
    {"local/global instruction queue", "stall_lg_throttle"},
    {"execution pipe to be available", "stall_math_pipe_throttle"},
    {"sibling warps at a CTA barrier", "stall_barrier"},
    {"fixed latency execution dependency", "stall_wait"},
    {"memory barrier", "stall_membar"},
};

constexpr std::array<std::string_view, 14> kOwnFacts{
    "dram_total_bytes",       "occupancy",
    "registers_per_thread",   "waves",
    "tail_fraction",          "blocks",
    "threads_per_block",      "static_smem_bytes",
    "dynamic_smem_bytes",     "occupancy_limit_registers",
    "occupancy_limit_smem",   "occupancy_limit_threads",
    "occupancy_limit_blocks", "sm_busy"};

/// Calls `use(line, number)` for every line, from 1.
template <class Use>
void each_line(std::string_view text, Use&& use) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    use(text.substr(0, end), number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

/// One launch while its lines are read.
class Launch {
 public:
  explicit Launch(std::string kernel) : kernel_(std::move(kernel)) {}

  /// A metric as a details page has it.
  void metric(std::string_view label, std::string_view unit, std::string_view text) {
    const auto value = ncu_number(text);
    if (!value) return;
    const double base = *value * ncu_unit_scale(unit);
    for (const Label& known : kLabels) {
      if (known.label == label && (known.unit.empty() || known.unit == unit))
        set(known.fact, base * known.scale, known.source);
    }
    if (label == kDramRate && unit.find(kRateUnit) != std::string_view::npos) dram_rate_ = base;
    if (label == "SM Active Cycles") active_ = base;
    if (label == "Elapsed Cycles") elapsed_ = base;
    if (label.starts_with(kBlockLimit))
      limit(label.substr(kBlockLimit.size()), &Limit::details, base);
  }

  /// The text of a rule's advice. "... stalled waiting for X. This stall type represents about S%
  /// of the total average of T cycles between issuing two instructions": one of those T issues and
  /// does not wait.
  void advice(std::string_view text) {
    for (const Sentence& sentence : kSentences) {
      const std::size_t at = text.find(sentence.words);
      if (at == std::string_view::npos) continue;
      const auto share = number_after(text.substr(at), "represents about ");
      const auto total = number_after(text.substr(at), "total average of ");
      if (share && total && *total > 1)
        set(sentence.fact, std::min(1.0, *share * kPercent * *total / (*total - 1)),
            FactSource::measured);
      return;
    }
  }

  void counters(const NcuLaunch& launch) {
    add_facts(metric_values(launch), diagnosis_);
    for (const Label& known : kColumns) {
      if (const auto found = launch.counters.find(known.label); found != launch.counters.end())
        set(known.fact, found->second * known.scale, known.source);
    }
    for (const auto& [name, value] : launch.counters) {
      if (name.starts_with(kLimitColumn))
        limit(std::string_view(name).substr(kLimitColumn.size()), &Limit::raw, value);
    }
  }

  [[nodiscard]] NcuFindings finish() {
    if (least_limit_ != nullptr) set(least_limit_->fact, 1, FactSource::static_analysis);
    if (active_ && elapsed_ && *elapsed_ > 0)
      set("sm_busy", *active_ / *elapsed_, FactSource::measured);
    NcuFindings out{.kernel = std::move(kernel_), .diagnosis = {}, .time_ns = 0};
    if (const auto time = diagnosis_.facts.find("profiled_time"); time != diagnosis_.facts.end())
      out.time_ns = time->second.value;
    if (dram_rate_ && out.time_ns > 0)
      set("dram_total_bytes", *dram_rate_ * out.time_ns * 1e-9, FactSource::measured);
    if (const auto waves = diagnosis_.facts.find("waves"); waves != diagnosis_.facts.end()) {
      const double part = waves->second.value - std::floor(waves->second.value);
      set("tail_fraction", part > 0 ? part : 1, FactSource::static_analysis);
    }
    out.diagnosis = std::move(diagnosis_);
    return out;
  }

 private:
  void set(std::string_view fact, double value, FactSource source) {
    if (std::isfinite(value)) diagnosis_.facts[std::string(fact)] = {value, source};
  }

  void limit(std::string_view word, std::string_view Limit::* words, double blocks) {
    for (const Limit& known : kLimits) {
      if (known.*words != word || (least_limit_ != nullptr && blocks >= least_blocks_)) continue;
      least_limit_ = &known;
      least_blocks_ = blocks;
    }
  }

  static std::optional<double> number_after(std::string_view text, std::string_view words) {
    const std::size_t at = text.find(words);
    if (at == std::string_view::npos) return std::nullopt;
    text.remove_prefix(at + words.size());
    return ncu_number(text.substr(0, text.find_first_not_of("0123456789.,")));
  }

  std::string kernel_;
  Diagnosis diagnosis_;
  std::optional<double> dram_rate_, active_, elapsed_;
  const Limit* least_limit_ = nullptr;
  double least_blocks_ = 0;
};

std::vector<NcuFindings> finished(std::vector<Launch>& launches, const std::string& place) {
  if (launches.empty())
    throw bad_input(
        place, "",
        "a launch in a report of Nsight Compute: text, or CSV of its raw or details page");
  std::vector<NcuFindings> out;
  for (Launch& launch : launches) out.push_back(launch.finish());
  return out;
}

/// Where a details page in CSV has what.
struct Columns {
  std::size_t count = 0, id = 0, kernel = 0, metric = 0, unit = 0, value = 0;
  std::optional<std::size_t> advice;
};

std::optional<Columns> columns_of(const std::vector<std::string>& fields) {
  const auto at = [&](std::string_view name) -> std::optional<std::size_t> {
    const auto found = std::ranges::find(fields, name);
    if (found == fields.end()) return std::nullopt;
    return static_cast<std::size_t>(found - fields.begin());
  };
  const auto id = at("ID"), kernel = at("Kernel Name"), metric = at("Metric Name"),
             unit = at("Metric Unit"), value = at("Metric Value");
  if (!id || !kernel || !metric || !unit || !value) return std::nullopt;
  return Columns{.count = fields.size(),
                 .id = *id,
                 .kernel = *kernel,
                 .metric = *metric,
                 .unit = *unit,
                 .value = *value,
                 .advice = at("Rule Description")};
}

std::vector<Launch> details_csv(std::string_view text, const std::string& place) {
  std::vector<Launch> launches;
  std::optional<Columns> columns;
  std::string last_id;
  each_line(text, [&](std::string_view line, std::size_t number) {
    if (trimmed(line).empty() || line.starts_with("==")) return;
    const auto fields = split_ncu_fields(line);
    if (!columns) {
      columns = columns_of(fields);
      return;
    }
    if (fields.size() != columns->count) {
      throw bad_input(place + ":" + std::to_string(number),
                      std::to_string(fields.size()) + " fields",
                      std::to_string(columns->count) + " fields, as in the header");
    }
    if (launches.empty() || fields[columns->id] != last_id)
      launches.emplace_back(fields[columns->kernel]);
    last_id = fields[columns->id];
    launches.back().metric(fields[columns->metric], fields[columns->unit], fields[columns->value]);
    if (columns->advice) launches.back().advice(fields[*columns->advice]);
  });
  return launches;
}

/// The kernel that a line of a text report begins: "  name(args) (64, 1, 1)x(256, 1, 1), Context 1,
/// Stream 7, Device 0, CC 9.0", or without its launch as older versions print it. Empty for other
/// lines.
std::string kernel_of(std::string_view line) {
  const std::size_t context = line.find(", Context ");
  if (context == std::string_view::npos ||
      line.find(", Stream ", context) == std::string_view::npos)
    return "";
  std::string_view name = line.substr(0, context);
  if (const std::size_t launch = name.rfind(")x("); launch != std::string_view::npos)
    name = name.substr(0, name.rfind('(', launch));
  return std::string(trimmed(name));
}

/// Ends of the columns that a line of dashes rules; fewer than two columns: none.
std::vector<std::size_t> ruled(std::string_view line) {
  std::vector<std::size_t> ends;
  if (line.find_first_not_of(" -\r") != std::string_view::npos) return ends;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '-' && (i + 1 == line.size() || line[i + 1] != '-')) ends.push_back(i + 1);
  }
  if (ends.size() < 2) ends.clear();
  return ends;
}

/// A table row cut at the ruled columns: label, unit (empty in tables without units) and value.
void table_row(std::string_view line, const std::vector<std::size_t>& ends, Launch& launch) {
  const auto cell = [&](std::size_t i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    if (begin >= line.size()) return std::string_view{};
    return trimmed(i + 1 == ends.size() ? line.substr(begin) : line.substr(begin, ends[i] - begin));
  };
  const std::size_t value = ends.size() - 1;
  launch.metric(cell(0), value >= 2 ? cell(1) : std::string_view{}, cell(value));
}

std::vector<Launch> details_text(std::string_view text) {
  std::vector<Launch> launches;
  std::vector<std::size_t> ends;
  std::string advice;  // the sentences of one rule, lines joined
  const auto flush = [&] {
    if (!launches.empty() && !advice.empty()) launches.back().advice(advice);
    advice.clear();
  };
  each_line(text, [&](std::string_view line, std::size_t) {
    if (std::string kernel = kernel_of(line); !kernel.empty()) {
      flush();
      launches.emplace_back(std::move(kernel));
      ends.clear();
      return;
    }
    if (launches.empty()) return;
    if (trimmed(line).empty() || trimmed(line).starts_with("Section:")) {
      flush();
      ends.clear();
      return;
    }
    if (auto found = ruled(line); !found.empty()) {
      ends = std::move(found);
      return;
    }
    if (!ends.empty()) table_row(line, ends, launches.back());
    advice += (advice.empty() ? "" : " ") + std::string(trimmed(line));
  });
  flush();
  return launches;
}

/// Whether a header of CSV with `column` stands somewhere.
bool has_header(std::string_view text, std::string_view column) {
  bool found = false;
  each_line(text, [&](std::string_view line, std::size_t) {
    if (found || !(line.starts_with("\"ID\"") || line.starts_with("ID,"))) return;
    const auto fields = split_ncu_fields(line);
    found = std::ranges::find(fields, "Kernel Name") != fields.end() &&
            (column.empty() || std::ranges::find(fields, column) != fields.end());
  });
  return found;
}

}  // namespace

std::span<const std::string_view> ncu_report_facts() {
  return kOwnFacts;
}

std::vector<NcuFindings> read_ncu_report(std::string_view text, const std::string& place) {
  std::vector<Launch> launches;
  if (has_header(text, "Metric Name")) {
    launches = details_csv(text, place);
  } else if (has_header(text, "")) {
    for (const NcuLaunch& launch : parse_ncu_csv(text, place)) {
      launches.emplace_back(launch.kernel);
      launches.back().counters(launch);
    }
  } else {
    launches = details_text(text);
  }
  return finished(launches, place);
}

}  // namespace warpath::cuda
