#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runners/cuda/compile/compile.h"

namespace warpath::cuda {

/// Why a spec or move may not use this option, in one line; empty if it may. An allow-list: macros,
/// the language level, register limits, line numbers and the floating-point switches, but nothing
/// that reads files, links, or changes what is built; of the assembler's how it spends registers,
/// how much it optimises and which cache loads use.
[[nodiscard]] std::string option_problem(std::string_view option);

/// Y of an option --ptxas-options=Y; empty for others.
[[nodiscard]] std::string_view assembler_option(std::string_view option);

/// One line naming the first of kernel name, architecture and options that is not acceptable; empty
/// if all are. The kernel's name becomes part of the compiler's input, so only names, numbers and
/// template punctuation are accepted.
[[nodiscard]] std::string compile_problem(const CompileRequest& request);
/// The result of a request that no compiler is to see: a source of more than kMaxSourceBytes, or a
/// compile_problem. nullopt: there is nothing against it.
[[nodiscard]] std::optional<CompileResult> refused_request(const CompileRequest& request);

/// The full option list: Warpath's own (architecture, C++17, no asserts, resource usage in the log;
/// from CUDA 13 on, no compiler disk cache), then those of `request`.
[[nodiscard]] std::vector<std::string> nvrtc_options(const CompileRequest& request,
                                                     int nvrtc_major);

}  // namespace warpath::cuda
