#pragma once

#include <cstdint>

#include "engine/spec/expression.h"
#include "moves/model/facts.h"

namespace warpath {

/// Elements of which writes_all() can tell, with up to four steps through threads and loops each.
inline constexpr std::int64_t kMostFollowed = 300'000;

/// True if the kernel's stores reach each of the first `elements` of the array at these numbers:
/// values of parameters, "blockDim.x", "gridDim.x" and so on. Stores under a condition that the
/// model does not follow do not count; with more elements or steps nothing does.
[[nodiscard]] bool writes_all(const model::KernelFacts& facts,
                              int array,
                              std::int64_t elements,
                              const Bindings& numbers);

}  // namespace warpath
