#pragma once

#include <cstdint>

#include "engine/spec/expression.h"
#include "moves/model/facts.h"

namespace warpath {

/// True if the kernel's stores reach each of the first `elements` of the array at these numbers:
/// values of parameters, "blockDim.x", "gridDim.x" and so on. Stores under a condition that the
/// model does not follow do not count; with more than a few hundred thousand steps nothing does.
[[nodiscard]] bool writes_all(const model::KernelFacts& facts,
                              int array,
                              std::int64_t elements,
                              const Bindings& numbers);

}  // namespace warpath
