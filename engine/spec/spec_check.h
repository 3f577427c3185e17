#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// Maximum elements of an index tensor that the check materialises per workload; of a larger one
/// only the first elements are checked, and an `arange`, `full` or `randint` by its bounds.
inline constexpr std::int64_t kMaxCheckedElements = std::int64_t{1} << 24U;
/// Maximum elements of one tensor.
inline constexpr std::int64_t kMaxTensorElements = std::int64_t{1} << 40U;

/// Checks everything about a spec that can be known without running it. Throws Error(bad_input) on
/// the first problem.
void check_spec(const KernelSpec& spec);

}  // namespace warpath
