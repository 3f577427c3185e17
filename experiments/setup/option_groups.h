#pragma once

#include "engine/plugin/options.h"

namespace warpath {

/// Every option of this build at its default: those of the search and of all its plug-ins.
[[nodiscard]] const Options& default_options();

}  // namespace warpath
