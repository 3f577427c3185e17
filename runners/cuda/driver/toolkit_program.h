#pragma once

#include <string>

namespace warpath::cuda {

/// Path of a program of the CUDA toolkit: on PATH, below CUDA_PATH and CUDA_HOME, in the usual
/// places; empty if not found.
[[nodiscard]] std::string toolkit_program(const std::string& name);

}  // namespace warpath::cuda
