#pragma once

#include "engine/spec/spec.h"

namespace warpath {

/// Checks what a spec says of its caller: structs passed by value, a launch that the caller owns,
/// outputs that were computed elsewhere. The other checks of check_spec() hold. Throws
/// Error(bad_input) on the first problem.
void check_caller(const KernelSpec& spec);

}  // namespace warpath
