#pragma once

#include <filesystem>
#include <string>

#include "engine/plugin/options.h"
#include "engine/plugin/prior.h"

namespace warpath {

/// Configuration of a run's prior. A resumed run reads the files that its folder kept from the
/// start; a new one the files named in the options, and OUTDIR/tactic_graph.json. `options` must
/// outlive the result.
[[nodiscard]] PriorConfig run_prior_config(const Options& options,
                                           const std::filesystem::path& folder,
                                           const std::filesystem::path& outdir,
                                           bool resumed);

/// The same for a study: "{kernel}" in file names stands for the current kernel.
[[nodiscard]] PriorConfig study_prior_config(const Options& options, const std::string& kernel);

}  // namespace warpath
