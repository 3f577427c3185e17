#pragma once

#include <string>

namespace warpath::cuda {

/// The path of a program of NVIDIA's toolkit: on PATH, below CUDA_PATH and CUDA_HOME, in the usual
/// places; empty if it is in none.
[[nodiscard]] std::string toolkit_program(const std::string& name);

}  // namespace warpath::cuda
