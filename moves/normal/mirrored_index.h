#pragma once

#include <cstddef>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// Loops that set a variable of their own to another one at the start of every iteration:
/// `for (int i = at; at < n; at += s, i = at)`.
[[nodiscard]] std::size_t mirrored_indices(const model::KernelFacts& facts);

/// Adds edits that declare the variable of the first such loop in its body,
/// `for (; at < n; at += s) { int i = at; ... }`. False if there is none.
[[nodiscard]] bool mirror_in_body(const NormalSite& site, std::vector<Edit>& edits);

}  // namespace warpath
