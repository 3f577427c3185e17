#pragma once

#include <string>
#include <vector>

#include "engine/plugin/options.h"
#include "experiments/console/command_line.h"

namespace warpath {

/// `--config`, `--set` and every flag declared by the options themselves (engine/plugin/options.h).
[[nodiscard]] std::vector<Flag> option_flags();

/// `base` < `--config FILE` < flags < `--set GROUP.KEY=VALUE`. Throws Error(bad_input) naming file
/// or flag, key and value.
[[nodiscard]] Options apply_layers(const Options& base, const Arguments& arguments);

/// All options as JSON text, in the format of `--config`.
[[nodiscard]] std::string options_text(const Options& options);

}  // namespace warpath
