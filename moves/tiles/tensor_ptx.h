#pragma once

#include <string>

#include "moves/edit/code_template.h"
#include "moves/tiles/contraction.h"
#include "moves/tiles/tensor_tile.h"

namespace warpath {

/// Device functions wrapping the instructions, to insert before the kernel.
[[nodiscard]] std::string tensor_helpers(CodeTemplate& code,
                                         const Contraction& c,
                                         const TensorTile& tile);

}  // namespace warpath
