#pragma once

#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"
#include "moves/model/kernel_model.h"

namespace warpath {

/// A size in the names of the launch plan, usable as a factor; nullopt if a name is no integer
/// argument of the spec or an operation has no such form.
[[nodiscard]] std::optional<std::string> plan_text(const MoveContext& context,
                                                   const model::KernelModel& model,
                                                   const model::Polynomial& size);

/// As above, for the exclusive upper bound of a counted loop, which may also be a quotient, a
/// remainder or an extremum; local variables are resolved.
[[nodiscard]] std::optional<std::string> plan_text_of_end(const MoveContext& context,
                                                          const model::KernelModel& model,
                                                          const model::Loop& loop);

}  // namespace warpath
