#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/diagnosis.h"

namespace warpath::cuda {

/// One launch of a report of Nsight Compute, by our names of facts.
struct NcuFindings {
  std::string kernel;  ///< as the report names it: "row_sum(const float *, float *)"
  /// counters and stall shares measured; registers, waves and what limits the occupancy
  /// static_analysis
  Diagnosis diagnosis;
  double time_ns = 0;  ///< of the profiled launch; 0 if the report does not say
};

/// Reads what Nsight Compute prints of a report, in any of three forms:
///
/// - `--csv --page raw`: a column a counter; the facts of metrics.h and of the launch;
/// - `--csv --page details` (the default of `--csv`): a line a metric, with its section;
/// - text (`--page details`): tables a section, and the sentences of rules, of which those about
/// stalls are read.
///
/// Lines around them (its own messages, the program's output) are skipped, and so are metrics
/// without a fact. The details give few stall shares: only of those that a rule found worth a
/// sentence. Throws Error(bad_input) naming `place` where there is no launch, and where a CSV line
/// has another number of fields than its header.
[[nodiscard]] std::vector<NcuFindings> read_ncu_report(std::string_view text,
                                                       const std::string& place);

/// Facts that reports give and metrics() does not.
[[nodiscard]] std::span<const std::string_view> ncu_report_facts();

}  // namespace warpath::cuda
