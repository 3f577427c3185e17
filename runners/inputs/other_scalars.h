#pragma once

#include <optional>

#include "engine/spec/spec.h"
#include "runners/inputs/arguments.h"
#include "runners/inputs/input_choices.h"

namespace warpath {

/// The value of a scalar argument in sets of `choice`: a floating-point argument that the kernel
/// receives differs from its declared value in InputFamily::other_scalars, whose sign and range it
/// keeps (a probability stays one; 0 becomes a half): all of them in form 0, in form k the k-th of
/// them alone. One that is as declared beside another that is not tells a kernel that takes it for
/// the sign of a call that it knows. Those of compile time (`is_meta`) and integers are part of
/// what a kernel is made for; and where its text makes integers of floating-point numbers, which
/// may be places in a tensor, all scalars are as declared. nullopt for tensors and texts.
[[nodiscard]] std::optional<ScalarValue> scalar_on(const FamilyChoice& choice,
                                                   const KernelSpec& spec,
                                                   const ArgSpec& arg,
                                                   const Workload& workload);

/// How many scalar arguments differ in form 0.
[[nodiscard]] int free_scalars(const KernelSpec& spec, const Workload& workload);

}  // namespace warpath
