#pragma once

#include <string>

#include "moves/syntax/unit.h"

namespace warpath {

/// How a project's text is read: conditions on the version of CUDA hold as for the least that
/// kernels are built with here, and what is declared nowhere in the text is 32 if it is named like
/// the size of a warp, 0 like the first index (`INDEX_BASE`).
[[nodiscard]] model::ParseOptions reading_options(const std::string& text);

}  // namespace warpath
