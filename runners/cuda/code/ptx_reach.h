#pragma once

#include <string>
#include <vector>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// Removes from `module` the functions that `entries` cannot reach: other kernels and what only
/// they call. Calls are followed by name; if a reached function calls indirectly, everything is
/// kept. Variables are kept: they may be reached through pointers.
void keep_reached(PtxModule& module, const std::vector<std::string>& entries);

}  // namespace warpath::cuda
