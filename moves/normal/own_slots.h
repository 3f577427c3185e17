#pragma once

#include <vector>

#include "engine/text/source_edit.h"
#include "moves/normal/helper_call.h"

namespace warpath {

/// A shared array with an element a thread, in which each thread works alone until the first
/// barrier: `part[threadIdx.x] = 0; for (...) part[threadIdx.x] += ...;`.
struct OwnSlot {
  const model::Array* array = nullptr;
  const model::Stmt* start = nullptr;    ///< the statement that sets the element first
  const model::Stmt* barrier = nullptr;  ///< the first one
  std::vector<const model::Expr*> uses;  ///< the element, in front of the barrier
};

/// Those with a loop in front of the barrier that changes the element.
[[nodiscard]] std::vector<OwnSlot> own_slots(const model::KernelFacts& facts);

/// Adds edits after which a variable of the thread stands for the elements, which are stored just
/// before the barrier. False if there is none.
[[nodiscard]] bool keep_slots(const NormalSite& site, std::vector<Edit>& edits);

}  // namespace warpath
