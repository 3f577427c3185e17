#pragma once

#include "engine/spec/spec.h"

namespace warpath {

/// True if the text of the spec names an exponential or trigonometric function, whose result moves
/// relatively by as much as its argument does absolutely.
[[nodiscard]] bool takes_exponentials(const KernelSpec& spec);

}  // namespace warpath
