#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace warpath {

/// `source` without the bodies of the kernels that nobody launches: every `__global__` function but
/// those that `kept` names ("k", "space::k", "k<float, 4>") is left as a declaration, and explicit
/// instantiations of kernels are dropped. Line numbers stay, and so do preprocessor lines. What
/// cannot be told from the text alone stays as it is: a kernel named by a macro, a head or body
/// that conditions cut in two, a text without the kernel that `kept` names first.
[[nodiscard]] std::string without_other_kernels(std::string_view source,
                                                const std::vector<std::string>& kept);

}  // namespace warpath
