#pragma once

#include <cstddef>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// How many axes have a thread's index that the kernel writes out more than once, in subscripts or
/// conditions, `y[blockIdx.x * blockDim.x + threadIdx.x]`, and no variable that holds it.
[[nodiscard]] std::size_t unnamed_indices(const model::KernelFacts& facts);

/// Adds edits after which a variable at the head of the kernel holds the first of them. False if
/// there is none.
[[nodiscard]] bool name_index(const NormalSite& site, std::vector<Edit>& edits);

}  // namespace warpath
