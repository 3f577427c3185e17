#pragma once

#include <string>

namespace warpath::cuda {

/// Path of a program of the CUDA toolkit: on PATH, below CUDA_PATH and CUDA_HOME, in the usual
/// places; empty if not found. Where that is a script that does nothing but start a program
/// elsewhere, the path is of that one, so that a sandbox can name what it lets run.
[[nodiscard]] std::string toolkit_program(const std::string& name);

}  // namespace warpath::cuda
