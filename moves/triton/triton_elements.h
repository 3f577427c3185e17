#pragma once

#include <cstddef>
#include <string_view>

#include "moves/triton/triton_kernel.h"

namespace warpath {

/// No element that the access touches in one iteration of the loop is touched in another: the
/// loop's variable, from 0 or more on in steps of `step` (Python as written) in either direction,
/// is one index of a row-major matrix of up to two axes, the other one is below the row's length.
[[nodiscard]] bool has_own_elements(const MoveContext& context,
                                    const TritonKernel& kernel,
                                    const TritonAccess& access,
                                    std::size_t loop,
                                    std::string_view step);

}  // namespace warpath
