#pragma once

#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath {

/// What the texts of a well-formed spec contradict or lack: contract_problems
/// (moves/contract/kernel_contract.h), headers that were found nowhere and that no runner has, and
/// a host operation that there is not or that its operands do not suit.
/// One line each, "PLACE: got VALUE, expected WHAT".
[[nodiscard]] std::vector<std::string> spec_problems(const KernelSpec& spec);

/// Throws Error(bad_input) with the first of spec_problems and the number of others.
void require_no_problems(const KernelSpec& spec);

}  // namespace warpath
