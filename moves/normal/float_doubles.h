#pragma once

#include <vector>

#include "engine/text/source_edit.h"
#include "moves/model/facts.h"

namespace warpath {

/// Edits that declare local doubles float which hold nothing but values of floats: what is assigned
/// to them is a float, another one of them, or a literal, and they are compared with such values
/// only, or become floats. Every result is the same, bit by bit. A literal beyond all floats, as
/// the start of a search for the least, becomes infinity where no comparison can tell the two
/// apart.
[[nodiscard]] std::vector<Edit> float_doubles(const model::KernelFacts& facts);

}  // namespace warpath
