#pragma once

#include "experiments/console/command_line.h"

namespace warpath {

/// `inspect --regions FILE`: the region graph of a spec's kernel, of an entry of a PTX file or of a
/// kernel of a CUDA file, as JSON or, with --dot, for Graphviz. Throws Error(bad_input) for invalid
/// files, entries and flags, Error(environment) without NVRTC.
void print_regions(const Arguments& arguments);

/// Its flags besides "regions".
[[nodiscard]] std::vector<Flag> region_flags();

}  // namespace warpath
