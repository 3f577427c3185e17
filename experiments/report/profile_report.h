#pragma once

#include "experiments/console/command_line.h"

namespace warpath {

/// `inspect --ncu FILE`: what a report of Nsight Compute says of each launch: gaps, findings of the
/// rules, and what it lacks; with
/// --json facts and findings as one JSON array. Throws Error(bad_input) for files that hold no
/// launch.
void print_profile(const Arguments& arguments);

/// The flags that belong to it.
[[nodiscard]] std::vector<Flag> profile_flags();

}  // namespace warpath
