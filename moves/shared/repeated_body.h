#pragma once

#include <string>
#include <vector>

#include "moves/model/facts.h"

namespace warpath {

/// What one element of a thread would hand to the next if the thread ran `repeated` (statements in
/// order) for several of them: a local variable or array from before that they change. Empty if
/// there is none.
[[nodiscard]] std::string carried_variable(const model::KernelModel& kernel,
                                           const std::vector<const model::Stmt*>& repeated);

}  // namespace warpath
