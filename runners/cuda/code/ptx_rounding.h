#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace warpath::cuda {

enum class PtxRounding : std::uint8_t { upward, downward };

/// Rewrites PTX so that additions, multiplications, divisions and roots in f32 and f64 that round
/// to nearest round in `direction`. Approximate functions, conversions, other types, and
/// instructions that name another rounding stay as they are. How far results move shows how much of
/// them is rounding (Vignes, "Discrete stochastic arithmetic for validating results of numerical
/// software", 2004). Linear in the text.
[[nodiscard]] std::string round_ptx(std::string_view ptx, PtxRounding direction);

}  // namespace warpath::cuda
