#pragma once

#include <cstddef>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// Loops whose step gives a variable the index of the iteration that ends: `k = j++`.
[[nodiscard]] std::size_t lagging_indices(const model::KernelFacts& facts);

/// Adds edits that compute the variable of the first such loop in its body, from what it was before
/// the loop and the index: `for (int j = 0; j < n; j++) { const int k = j == 0 ? k_first : j - 1;`.
/// False if there is none.
[[nodiscard]] bool lag_in_body(const NormalSite& site, std::vector<Edit>& edits);

}  // namespace warpath
