#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/diagnosis.h"

namespace warpath::cuda {

/// One formula for a metric: scale * numerator / (denominator - less). Names are those of CUPTI and
/// Nsight Compute; an empty denominator is 1, an empty `less` 0.
struct MetricSource {
  std::string_view numerator{};
  std::string_view denominator{};
  std::string_view less{};
  double scale = 1;
};

/// A fact about a launch derived from hardware counters. Shares and rates are 0 to 1.
struct Metric {
  std::string_view name;  ///< of the fact
  std::string_view unit;  ///< "byte", "share", "ns", "count"
  std::string_view help;
  std::span<const MetricSource> sources;  ///< best first, as counter names differ between chips
};

/// All metrics. A stall share is the warp-cycles stalled for that reason over all warp-cycles that
/// do not issue; `issued_share` is the issuing ones over all.
[[nodiscard]] std::span<const Metric> metrics();

struct ResolvedMetric {
  Metric metric;
  MetricSource source;  ///< the first whose counters are all offered
};

/// The metrics of `wanted` for which a source is available. `offered` tells whether a counter is.
[[nodiscard]] std::vector<ResolvedMetric> resolve_metrics(
    std::span<const Metric> wanted, const std::function<bool(std::string_view)>& offered);

/// The counters needed by `resolved`, ascending, without duplicates.
[[nodiscard]] std::vector<std::string> counter_names(std::span<const ResolvedMetric> resolved);

using Readings = std::map<std::string, double, std::less<>>;

/// Metrics by Warpath's names from counters by theirs. A metric is omitted if a counter is missing
/// or not finite, or its denominator is not positive (no loads: no sectors per load). Numerator and
/// denominator come from different launches, so that a share may slightly exceed 1.
[[nodiscard]] Readings metric_values(std::span<const ResolvedMetric> resolved,
                                     const Readings& counters);

/// Adds `values` to a diagnosis as measured facts, replacing facts of the same name.
void add_facts(const Readings& values, Diagnosis& diagnosis);

}  // namespace warpath::cuda
