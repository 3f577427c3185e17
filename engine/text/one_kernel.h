#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// `source` without the bodies of unused kernels: each `__global__` function not in `kept` ("k",
/// "space::k", "k<float, 4>") is reduced to a declaration, and explicit instantiations of kernels
/// are removed. Line numbers and preprocessor lines are preserved. Whatever the text alone does not
/// decide is left unchanged: a kernel named by a macro, a head or body split by conditionals, a
/// text without the first kernel in `kept`.
[[nodiscard]] std::string without_other_kernels(std::string_view source,
                                                const std::vector<std::string>& kept);

/// The function that a kernel name expression means, without scope and template arguments: k of
/// "space::k<float, 4>".
[[nodiscard]] std::string_view plain_kernel_name(std::string_view name);

}  // namespace warpath
