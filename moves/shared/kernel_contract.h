#pragma once

#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// Where the spec contradicts the text of its kernel or of its reference kernel: the kernel is
/// missing, or its parameters differ from the spec's arguments in number, order or type; an input
/// is written, an output is not. One line each, "FILE:/json/pointer: got VALUE, expected WHAT".
/// Only what is certain: nothing is said of what the source model does not follow (macros, unknown
/// types, conditions on unknown names).
[[nodiscard]] std::vector<std::string> contract_problems(const KernelSpec& spec);

/// Throws Error(bad_input) with the first of contract_problems; its message says how many more
/// there are.
void require_contract(const KernelSpec& spec);

}  // namespace warpath
