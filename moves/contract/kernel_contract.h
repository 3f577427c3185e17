#pragma once

#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// Contradictions between the spec and the text of its kernel or reference kernel: the kernel is
/// missing, its parameters differ from the spec's arguments in number, order or type, an input is
/// written, an output is not. One line each, "FILE:/json/pointer: got VALUE, expected WHAT".
/// Reports only certain ones, nothing that the source model does not follow (macros, unknown types,
/// conditions on unknown names).
[[nodiscard]] std::vector<std::string> contract_problems(const KernelSpec& spec);

}  // namespace warpath
