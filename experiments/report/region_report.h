#pragma once

#include "experiments/console/command_line.h"

namespace warpath {

/// `inspect --regions FILE`: the region graph of a spec's kernel, of an entry of a PTX file or of a
/// kernel of a CUDA file, as JSON or, with --dot, for Graphviz. Throws Error(bad_input) for files,
/// entries and flags that are wrong, Error(environment) without NVRTC.
void print_regions(const Arguments& arguments);

/// The flags that belong to it beside "regions".
[[nodiscard]] std::vector<Flag> region_flags();

}  // namespace warpath
