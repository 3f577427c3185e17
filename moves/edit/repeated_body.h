#pragma once

#include <string>
#include <vector>

#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A local variable or array that would carry state from one element to the next if a thread ran
/// `repeated` (statements in order) for several: declared before and changed by them. Empty if
/// there is none.
[[nodiscard]] std::string carried_variable(const model::KernelModel& kernel,
                                           const std::vector<const model::Stmt*>& repeated);

}  // namespace warpath
