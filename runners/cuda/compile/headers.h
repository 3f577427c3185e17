#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runners/cuda/compile/nvrtc.h"

namespace warpath::cuda {

/// Names that a kernel may include: headers of the toolkit (toolkit_files.h), and host headers
/// whose contents the compiler provides itself or that are replaced by a few lines of Warpath's.
[[nodiscard]] std::span<const std::string_view> allowed_includes();

/// The allowed headers and the files they include, as texts for the compiler. Files found in none
/// of `folders` are omitted (a kernel that includes them gets a compile error).
[[nodiscard]] std::vector<Header> load_headers(const std::vector<std::string>& folders);

/// Include folders of a CUDA installation: beside NVRTC's library, CUDA_PATH and CUDA_HOME,
/// /usr/local/cuda, /usr/include.
[[nodiscard]] std::vector<std::string> include_folders(const std::string& nvrtc_path);

}  // namespace warpath::cuda
