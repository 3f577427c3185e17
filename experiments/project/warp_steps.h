#pragma once

#include <string>

namespace warpath {

/// The comment behind which with_warp_steps() has a statement in two steps.
inline constexpr const char* kWarpStep = "/* a step of the warp */ ";

/// `source` with statements that rely on the threads of a warp going in step as what CUDA asks for
/// since Volta: where an element behind a `volatile` pointer is made of others, `p[i] += p[i +
/// 16];`, all threads of the warp read, then write.
[[nodiscard]] std::string with_warp_steps(const std::string& source);

}  // namespace warpath
