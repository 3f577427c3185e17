#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace warpath {

/// Site of a move on one loop of a kernel: "loop:K", counted in textual order. Moves on the source
/// model count its loops (KernelFacts::loops, including while and do); unroll_loops, which reads
/// tokens, counts words `for`.
[[nodiscard]] inline std::string loop_site(std::size_t ordinal) {
  return "loop:" + std::to_string(ordinal);
}
[[nodiscard]] inline bool is_loop_site(std::string_view site) {
  return site.starts_with("loop:");
}

}  // namespace warpath
