#pragma once

#include "engine/spec/spec.h"

namespace warpath {

/// Checks the contents of a tensor: embedded sizes, values that the element type cannot represent,
/// row pointers, and indices out of range (`indexes`). Works from the bounds of the init rules,
/// which hold for every run seed and size; materialises a tensor (up to kMaxCheckedElements) only
/// to name the first offending element. Shapes must have been checked. Throws Error(bad_input) on
/// the first problem.
void check_tensor_values(const KernelSpec& spec, const ArgSpec& arg, const Workload& workload);

}  // namespace warpath
