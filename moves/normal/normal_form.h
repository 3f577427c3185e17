#pragma once

#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/facts.h"

namespace warpath {

/// False if the kernel is in normal form already.
[[nodiscard]] bool may_be_normalised(const model::KernelFacts& facts);

/// The variant with what the facts do not follow, or what no move could change, written out in the
/// kernel's body: calls of helpers of the file, macros around statements or with accesses, groups
/// of threads that are a block or a warp, loops whose index lives outside, conditions that the
/// device's architecture decides. nullopt with one line in `why` if nothing would be better then.
[[nodiscard]] std::optional<Variant> normal_form(const MoveContext& context, std::string& why);

}  // namespace warpath
