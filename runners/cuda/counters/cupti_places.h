#pragma once

#include <string>
#include <vector>

namespace warpath::cuda {

/// Candidate paths of CUPTI, best first: beside the file `beside` (NVRTC's library; may be empty)
/// and where toolkits and Python packages put it relative to that, lib/ beside the program,
/// CUDA_PATH and CUDA_HOME, the loader's default, the usual installation folders. Only existing
/// files, and bare names for the loader.
[[nodiscard]] std::vector<std::string> cupti_candidates(const std::string& beside);

/// Paths of Nsight Compute's command-line program, best first: PATH, CUDA installations,
/// /opt/nvidia.
[[nodiscard]] std::vector<std::string> ncu_candidates();

}  // namespace warpath::cuda
