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

/// C text of the address of the pack's first element if the plan's variable is `value`.
[[nodiscard]] std::string address_at(const model::KernelFacts& facts,
                                     const PackPlan& plan,
                                     const Pack& pack,
                                     const std::string& value);

/// Bytes per load or store of the pack.
[[nodiscard]] std::size_t chunk_bytes(const Pack& pack, std::int64_t width);

/// Loads of the packs, a loop over their elements with the body after `body_edited`, stores of the
/// packs; unindented lines. `prefix`: lines at the head of the loop's body. `width_name`: the
/// constant's name.
[[nodiscard]] std::string packed_body(const model::KernelFacts& facts,
                                      const PackPlan& plan,
                                      const std::vector<const model::Stmt*>& body,
                                      const std::vector<const model::Stmt*>& prefix,
                                      std::string_view width_name,
                                      Rewrite& rewrite);

/// The edited, unindented text of consecutive statements of one block.
[[nodiscard]] std::string statements_text(const model::Unit& unit,
                                          const std::vector<const model::Stmt*>& body,
                                          const std::vector<Edit>& edits = {});

/// CUDA's vector type of `bytes` (2, 4, 8, 16) for moving elements of `type`; empty if there is
/// none.
[[nodiscard]] std::string vector_type(std::string_view type,
                                      std::size_t element_bytes,
                                      std::size_t bytes);

}  // namespace warpath
