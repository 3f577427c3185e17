#pragma once

#include <algorithm>

#include "moves/model/facts.h"

namespace warpath::model {

/// The kernel makes the array's pointer point elsewhere (`x -= 4; x[4 + i]`), or lets others do so.
/// Indices of accesses count from where it points at first, so `name[index]` is another element:
/// a move that writes that text, or the subscript of one access for that of another, has to ask.
[[nodiscard]] inline bool is_moved(const KernelFacts& facts, const Array& array) {
  return array.declarator != nullptr && array.declarator->points() &&
         std::ranges::count(facts.names_written(*facts.kernel->body), array.name) > 0;
}

}  // namespace warpath::model
