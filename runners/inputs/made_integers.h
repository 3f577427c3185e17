#pragma once

#include <string_view>

namespace warpath {

/// True if the text converts to integers, perhaps of floating-point numbers: `(int)x`, `int(x)`,
/// `static_cast<int>(x)`, `__float2int_rd(x)`, `lrintf(x)`, floorf(x) that a declaration converts.
/// Indices of threads and blocks are integers already, and what becomes one of 64 bits mostly is.
[[nodiscard]] bool makes_integers(std::string_view source);

/// True if such an integer, or what is computed from one, stands in a subscript: numbers are places
/// in a tensor. Also true of a text that cannot be followed.
[[nodiscard]] bool makes_places(std::string_view source);

}  // namespace warpath
