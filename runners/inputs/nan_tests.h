#pragma once

#include "engine/spec/spec.h"

namespace warpath {

/// True if the text of the spec says what becomes of NaN: it asks whether a value is one, by
/// `isnan(x)` or by comparing something with itself. Other texts leave open what a comparison or a
/// maximum makes of it.
[[nodiscard]] bool looks_for_nan(const KernelSpec& spec);

}  // namespace warpath
