#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "engine/spec/local_headers.h"

namespace warpath {

/// The CUDA text of a file as it is published: of a solution (.json) the source that has a kernel,
/// with the sources that it includes; of a Python file (.py) the string literals that have kernels;
/// else the file itself. Headers are looked for as by flat_source_file. Throws Error(bad_input) if
/// it has no kernel.
[[nodiscard]] FlatSource cuda_text(const std::filesystem::path& file,
                                   const std::vector<std::string>& folders,
                                   AngledHeaders angled = AngledHeaders::stay);

/// The string literals of a Python text that contain `__global__`, one after the other; of those
/// that begin with the same kernel the first.
[[nodiscard]] std::string cuda_literals(const std::string& python);

}  // namespace warpath
