#pragma once

#include <filesystem>
#include <string>

#include "engine/plugin/options.h"
#include "engine/plugin/prior.h"

namespace warpath {

/// Configuration of a run's prior; `folder` is that of the kernel. A resumed run reads the files
/// that the folder kept from the start; a new one the files named in the options, and
/// OUTDIR/tactic_graph.json. "{kernel}" in their names stands for the kernel. `options` must
/// outlive the result.
[[nodiscard]] PriorConfig run_prior_config(const Options& options,
                                           const std::filesystem::path& folder,
                                           const std::filesystem::path& outdir,
                                           bool resumed);

/// The same for a study.
[[nodiscard]] PriorConfig study_prior_config(const Options& options, const std::string& kernel);

}  // namespace warpath
