#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "moves/edit/pack_accesses.h"
#include "moves/edit/span_rewrite.h"
#include "moves/model/facts.h"

namespace warpath {

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
