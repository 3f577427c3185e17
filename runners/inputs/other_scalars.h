#pragma once

#include <optional>

#include "engine/portable/family_rule.h"
#include "engine/spec/spec.h"
#include "runners/inputs/arguments.h"

namespace warpath {

/// The value of a scalar argument in sets of `family`: a floating-point argument that the kernel
/// receives differs from its declared value in InputFamily::other_scalars, whose sign and range it
/// keeps (a probability stays one). Those of compile time (`is_meta`) and integers are part of what
/// a kernel is made for; and where its text makes integers of floating-point numbers, which may be
/// places in a tensor, all scalars are as declared. nullopt for tensors and texts.
[[nodiscard]] std::optional<ScalarValue> scalar_on(InputFamily family,
                                                   const KernelSpec& spec,
                                                   const ArgSpec& arg,
                                                   const Workload& workload);

}  // namespace warpath
