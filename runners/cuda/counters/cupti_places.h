#pragma once

#include <string>
#include <vector>

namespace warpath::cuda {

/// Where CUPTI may be, best first: beside the file `beside` (NVRTC's library; may be empty) and
/// where toolkits and Python packages put it relative to that, lib/ beside the program, CUDA_PATH
/// and CUDA_HOME, the loader's own places, the usual installation folders. Only files that exist,
/// and bare names for the loader.
[[nodiscard]] std::vector<std::string> cupti_candidates(const std::string& beside);

/// The Nsight Compute command-line programs of this machine, best first: PATH, CUDA installations,
/// /opt/nvidia.
[[nodiscard]] std::vector<std::string> ncu_candidates();

}  // namespace warpath::cuda
