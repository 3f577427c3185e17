#pragma once

#include <string>

#include "moves/syntax/unit.h"

namespace warpath::test {

/// The kernel with what it names of its file and nothing else: device functions, macros, types,
/// constants, each with what it names in turn, in the file's order and out of their namespaces,
/// which are named no more. Branches of conditions that are not taken, host functions and other
/// kernels are left out. The text need not compile: what comes from elsewhere is missing.
[[nodiscard]] std::string kernel_alone(const model::Unit& unit, const model::Function& kernel);

}  // namespace warpath::test
