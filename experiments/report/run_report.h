#pragma once

#include <filesystem>
#include <optional>

#include "engine/run/attribution.h"
#include "experiments/console/document.h"
#include "experiments/setup/recorded_run.h"

namespace warpath {

/// Why the best kernel of a recorded run is the best: what it reaches, the moves on the way to it,
/// what each is worth, what of them the code shows, the bottleneck before and after, the share of
/// the bound, and the whole difference to the baseline. `attribution`: as recorded; one of another
/// kernel is named and left out.
[[nodiscard]] Document run_report(const RecordedRun& run,
                                  const std::optional<Attribution>& attribution);

}  // namespace warpath
