#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"

namespace warpath {

/// Consecutive elements of an array accessed by a thread at once: those at one index for `width`
/// values of a variable, or at `stride` adjacent indices that advance by `stride`, like pairs.
struct Pack {
  const model::Array* array = nullptr;
  std::vector<const model::Access*> accesses;
  std::vector<std::int64_t> offsets;  ///< of each access: 0 to stride - 1
  std::int64_t stride = 1;
  model::Polynomial index;  ///< of the first element
  /// the text of the first element's access is valid before the body
  bool as_written = false;
  std::string type;  ///< of an element
  std::size_t element_bytes = 0;
  bool load = false, store = false;
};

/// Input of packed_body.
struct PackPlan {
  /// counts the elements; a multiple of `width` where packs are accessed, or as `start` says
  std::string variable;
  std::int64_t width = 0;
  std::vector<Pack> packs;  ///< not empty
};

/// Determines which accesses of `body` (statements of one block, in order) can be packs; the others
/// stay scalar. nullopt with one line in `why` if there are none, or if moving all loads first and
/// all stores last could change a value. With `start`, an access of the first pack that advances by
/// one, packs are accessed where its elements are aligned.
[[nodiscard]] std::optional<PackPlan> plan_packs(const model::KernelFacts& facts,
                                                 const std::vector<const model::Stmt*>& body,
                                                 std::string_view variable,
                                                 std::int64_t width,
                                                 std::string& why,
                                                 const model::Access* start = nullptr);

}  // namespace warpath
