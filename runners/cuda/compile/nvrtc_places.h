#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runners/cuda/compile/nvrtc.h"

namespace warpath::cuda {

/// Candidate paths of NVRTC, best first: lib/ beside the program or its folder (a bundle),
/// CUDA_PATH and CUDA_HOME, the loader's default, the usual installation folders.
[[nodiscard]] std::vector<std::string> nvrtc_candidates();
/// Opens the first of them that works; nullopt, with one line in `why`, if none does.
[[nodiscard]] std::optional<Nvrtc> open_nvrtc(std::string& why);

}  // namespace warpath::cuda
