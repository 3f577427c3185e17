#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/plugin/diagnosis.h"

namespace warpath::cuda {

/// One launch of a Nsight Compute report, by Warpath's names of facts.
struct NcuFindings {
  std::string kernel;  ///< as named in the report: "row_sum(const float *, float *)"
  /// source measured for counters and stall shares, static_analysis for registers, waves and
  /// occupancy limits
  Diagnosis diagnosis;
  double time_ns = 0;  ///< of the profiled launch; 0 if not reported
};

/// Parses a report printed by Nsight Compute in any of three forms:
///
/// - `--csv --page raw`: a column per counter; gives the facts of metrics.h and of the launch;
/// - `--csv --page details` (the default of `--csv`): a line per metric, with its section;
/// - text (`--page details`): tables by section, and the sentences of rules, of which those about
///   stalls are used.
///
/// Other lines (messages of ncu and the program) and metrics without a corresponding fact are
/// skipped. The details pages contain only the stall shares that a rule mentions. Throws
/// Error(bad_input) naming `place` if there is no launch or a CSV line has the wrong number of
/// fields.
[[nodiscard]] std::vector<NcuFindings> read_ncu_report(std::string_view text,
                                                       const std::string& place);

/// Facts that reports give beyond metrics().
[[nodiscard]] std::span<const std::string_view> ncu_report_facts();

}  // namespace warpath::cuda
