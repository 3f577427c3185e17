#pragma once

#include "engine/plugin/options.h"

namespace warpath {

/// All options of this build, of the search and its plug-ins, at their defaults.
[[nodiscard]] const Options& default_options();
/// The checks of every prior of this build, whichever is chosen. Throws Error(bad_input).
void check_priors(const Options& options);

}  // namespace warpath
