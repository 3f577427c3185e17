#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/diagnosis.h"

namespace warpath::cuda {

/// One way to get a metric: scale * numerator / (denominator - less). The names are those of CUPTI
/// and of Nsight Compute; an empty denominator is 1, an empty `less` 0.
struct MetricSource {
  std::string_view numerator{};
  std::string_view denominator{};
  std::string_view less{};
  double scale = 1;
};

/// A fact about a launch that hardware counters give. Shares and rates are 0 to 1.
struct Metric {
  std::string_view name;  ///< under which it becomes a fact
  std::string_view unit;  ///< "byte", "share", "ns", "count"
  std::string_view help;
  std::span<const MetricSource> sources;  ///< best first: chips name the same thing differently
};

/// Everything that is asked for. A stall share is the warp-cycles spent on that reason over the
/// cycles of all warps that do not issue; `issued_share` is that of the issuing ones over all.
[[nodiscard]] std::span<const Metric> metrics();

struct ResolvedMetric {
  Metric metric;
  MetricSource source;  ///< the first that is offered whole
};

/// Metrics of `wanted` of which a source is offered. `offered` is asked about names as in
/// MetricSource.
[[nodiscard]] std::vector<ResolvedMetric> resolve_metrics(
    std::span<const Metric> wanted, const std::function<bool(std::string_view)>& offered);

/// The counters that `resolved` needs, ascending, each once.
[[nodiscard]] std::vector<std::string> counter_names(std::span<const ResolvedMetric> resolved);

using Readings = std::map<std::string, double, std::less<>>;

/// Metrics by our names from counters by theirs. One whose counters are missing or not finite, or
/// whose denominator is not positive (no loads: no sectors a load), is left out. Numerator and
/// denominator come from different launches, so that a share may exceed 1 by what launches differ.
[[nodiscard]] Readings metric_values(std::span<const ResolvedMetric> resolved,
                                     const Readings& counters);

/// As measured facts of a diagnosis; replaces facts of the same name.
void add_facts(const Readings& values, Diagnosis& diagnosis);

}  // namespace warpath::cuda
