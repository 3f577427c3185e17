#pragma once

#include "experiments/console/command_line.h"

namespace warpath {

/// `inspect --ncu FILE`: for each launch of a Nsight Compute report its gaps, the findings of the
/// rules, and the missing facts; with --json facts and findings as one JSON array. Throws
/// Error(bad_input) for files without a launch.
void print_profile(const Arguments& arguments);

/// Its flags.
[[nodiscard]] std::vector<Flag> profile_flags();

}  // namespace warpath
