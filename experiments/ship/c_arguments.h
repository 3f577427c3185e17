#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// What the exported launchers take, in the spec's order: the kernel's arguments, and compile-time
/// integers and bools, which grids and shapes may depend on.
[[nodiscard]] std::vector<const ArgSpec*> launcher_arguments(const KernelSpec& spec);

/// The argument's name where it is no word of C or C++, otherwise with an underscore.
[[nodiscard]] std::string c_name(const ArgSpec& arg);
/// "const float*", "int". 16-bit floating-point scalars are passed as their bits, such tensors and
/// those of bool as `void*`.
[[nodiscard]] std::string c_type(const ArgSpec& arg);
/// "float* o, const float* x, int N"
[[nodiscard]] std::string c_parameters(const KernelSpec& spec);
/// The names of the same, joined by ", ".
[[nodiscard]] std::string c_names(const KernelSpec& spec);

/// The value that a workload passes for a scalar argument, as a constant of C.
[[nodiscard]] std::string c_constant(const ArgSpec& arg, const Workload& workload);

/// A text as a literal of C.
[[nodiscard]] std::string c_literal(std::string_view text);

[[nodiscard]] inline bool is_written(const ArgSpec& arg) {
  return arg.role == ArgRole::output || arg.role == ArgRole::inout;
}

}  // namespace warpath
