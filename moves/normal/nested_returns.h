#pragma once

#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// `if (c) return;` in a block that is the last thing a thread comes to: but for the rest of the
/// block nothing is left to do.
[[nodiscard]] std::vector<const model::Stmt*> nested_returns(const model::KernelFacts& facts);

/// Adds edits that put the rest of the block into an if in place of the first of them. False if
/// there is none.
[[nodiscard]] bool enclose_rest(const NormalSite& site, std::vector<Edit>& edits);

}  // namespace warpath
