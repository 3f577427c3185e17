#pragma once

#include <cstddef>
#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// How many names of the kernel one_value would do away with.
[[nodiscard]] std::size_t second_names(const model::KernelFacts& facts);

/// Adds edits after which one value has one name, or one name one value, for the first place where
/// that can be: a thread's index copied into another variable keeps its first name; a pointer that
/// is moved once, before all that uses it then, is a second pointer from there on. False if there
/// is none.
[[nodiscard]] bool one_value(const NormalSite& site, std::vector<Edit>& edits);

}  // namespace warpath
