#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "runners/cuda/compile/compile.h"

namespace warpath::cuda {

/// Empty if a spec or a move may give this option, otherwise one line why not. An allow-list:
/// macros, the language level, register limits, line numbers and the floating-point switches.
/// Nothing that reads files, links, or changes what is built.
[[nodiscard]] std::string option_problem(std::string_view option);

/// Empty if kernel name, architecture and all options are acceptable, otherwise one line naming the
/// first that is not. The kernel's name becomes part of what the compiler reads: only names,
/// numbers and template punctuation pass.
[[nodiscard]] std::string compile_problem(const CompileRequest& request);

/// `request`'s options after ours (architecture, C++17, no asserts, resource usage in the log;
/// where the compiler is of CUDA 13 or newer, not its own disk cache).
[[nodiscard]] std::vector<std::string> nvrtc_options(const CompileRequest& request,
                                                     int nvrtc_major);

}  // namespace warpath::cuda
