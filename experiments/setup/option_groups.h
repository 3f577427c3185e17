#pragma once

#include "engine/plugin/options.h"

namespace warpath {

/// All options of this build, of the search and its plug-ins, at their defaults.
[[nodiscard]] const Options& default_options();

}  // namespace warpath
