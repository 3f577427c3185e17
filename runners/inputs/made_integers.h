#pragma once

#include <string_view>

namespace warpath {

/// True if the text converts to integers, perhaps of floating-point numbers: `(int)x`, `int(x)`,
/// `static_cast<int>(x)`, `__float2int_rd(x)`, `lrintf(x)`, floorf(x) that a declaration converts.
/// Indices of threads and blocks are integers already, and what becomes one of 64 bits mostly is.
/// What is made of data may be a place in a tensor.
[[nodiscard]] bool makes_integers(std::string_view source);

}  // namespace warpath
