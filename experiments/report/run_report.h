#pragma once

#include <filesystem>
#include <optional>

#include "engine/run/attribution.h"
#include "experiments/console/document.h"
#include "experiments/setup/search_graph.h"

namespace warpath {

/// Explains the best kernel of a recorded run: its performance, the moves that led to it, other
/// paths to it, the value of each move and its evidence in the code, the bottleneck before and
/// after, the share of the bound, and the complete difference to the baseline. `graph`: of `run`.
/// `attribution`: as recorded; one of another kernel is mentioned and ignored.
[[nodiscard]] Document run_report(const RecordedRun& run,
                                  const SearchGraph& graph,
                                  const std::optional<Attribution>& attribution);

}  // namespace warpath
