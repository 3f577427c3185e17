#pragma once

#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// Statements that add to an integer what the launch makes 0: `i += blockIdx.y * n;` where the grid
/// has one row. Kernels for more blocks than an axis once could have say that.
[[nodiscard]] std::vector<const model::Stmt*> terms_of_launch(const model::KernelFacts& facts);

/// Adds edits that remove the first of them. False if there is none.
[[nodiscard]] bool drop_launch_term(const NormalSite& site, std::vector<Edit>& edits);

}  // namespace warpath
