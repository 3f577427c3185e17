#pragma once

#include <string>
#include <vector>

#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// Leaves out of `module` what `entries` cannot reach: other kernels of the file, and the functions
/// that only those call. Nothing launches them. Functions are followed by name; where a reached
/// function calls through an address, everything stays. Variables stay: what is not named may still
/// be pointed to.
void keep_reached(PtxModule& module, const std::vector<std::string>& entries);

}  // namespace warpath::cuda
