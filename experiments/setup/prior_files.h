#pragma once

#include <filesystem>
#include <string>

#include "engine/plugin/move.h"
#include "engine/plugin/options.h"

namespace warpath {

/// What the prior of a run is made with. A run that is continued reads what its folder kept from
/// the start; a new one the files that the options name, and OUTDIR/tactic_graph.json. `options`
/// outlives the result.
[[nodiscard]] PriorConfig run_prior_config(const Options& options,
                                           const std::filesystem::path& folder,
                                           const std::filesystem::path& outdir,
                                           bool resumed);

/// The same for a study: "{kernel}" in the names of files stands for the kernel at hand.
[[nodiscard]] PriorConfig study_prior_config(const Options& options, const std::string& kernel);

}  // namespace warpath
