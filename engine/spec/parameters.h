#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// A parameter of the kernel: one argument, or a struct passed by value with an argument a member.
struct ParameterLayout {
  std::string struct_name;  ///< empty: an argument of its own
  std::vector<std::size_t>
      members;  ///< positions in kernel_arguments() (runners/inputs/arguments.h)
  std::vector<std::size_t> offsets;  ///< of the members, in bytes
  std::vector<std::size_t> sizes;    ///< of the members, in bytes
  std::size_t size_bytes = 0;        ///< with padding
  std::size_t alignment_bytes = 1;
  bool operator==(const ParameterLayout&) const = default;
};

/// The kernel's parameters in order, laid out as host and device compilers do: a member at a
/// multiple of its size, the struct's size a multiple of its largest member. Arguments that are not
/// passed (meta scalars, texts) are none.
[[nodiscard]] std::vector<ParameterLayout> parameter_layouts(const KernelSpec& spec);

/// True if some parameter is a struct.
[[nodiscard]] bool has_structs(const KernelSpec& spec);

/// The argument that is each parameter, in order; null for a struct.
[[nodiscard]] std::vector<const ArgSpec*> parameter_arguments(const KernelSpec& spec);

/// "{float* x; int32 n; }, 16 bytes": what a struct parameter holds, for messages.
[[nodiscard]] std::string layout_text(const KernelSpec& spec, const ParameterLayout& layout);

}  // namespace warpath
