#pragma once

#include <filesystem>
#include <optional>

#include "engine/run/attribution.h"
#include "experiments/console/document.h"
#include "experiments/setup/search_graph.h"

namespace warpath {

/// Why the best kernel of a recorded run is the best: what it reaches, the moves on the way to it,
/// other ways to it, what each move is worth, what of them the code shows, the bottleneck before
/// and after, the share of the bound, and the whole difference to the baseline. `graph`: of `run`.
/// `attribution`: as recorded; one of another kernel is named and left out.
[[nodiscard]] Document run_report(const RecordedRun& run,
                                  const SearchGraph& graph,
                                  const std::optional<Attribution>& attribution);

}  // namespace warpath
