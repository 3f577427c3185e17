#pragma once

#include <cstddef>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// How many places late_declarations and steps_behind would change.
[[nodiscard]] std::size_t late_values(const model::KernelFacts& facts);

/// Adds edits after which a variable is declared where it gets its first value: `int i; ...; i =
/// e;`. False if there is none that can be.
[[nodiscard]] bool declare_late(const NormalSite& site, std::vector<Edit>& edits);

/// Adds edits after which a step stands behind its statement: `s += *p++;` is `s += *p; p++;`.
/// False if there is none that can be.
[[nodiscard]] bool step_behind(const NormalSite& site, std::vector<Edit>& edits);

}  // namespace warpath
