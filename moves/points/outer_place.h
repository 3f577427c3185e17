#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "engine/plugin/move.h"
#include "moves/model/kernel_model.h"
#include "moves/points/outer_change.h"

namespace warpath {

/// Where the outer indices of a thread are, if it makes several.
struct OuterPlace {
  LaunchPlan launch;
  std::string type;    ///< of an outer index, in C
  std::string extent;  ///< outer indices of the kernel, in its names
  bool exact = false;  ///< no thread has outer indices beyond the end
  bool beside = true;  ///< of a flat index: groups of outer indices are blocks of their own on y
};

/// nullopt with one line in `why` if there are fewer than `count` of them, or sizes cannot be said.
[[nodiscard]] std::optional<OuterPlace> place_outer(const MoveContext& context,
                                                    const model::KernelModel& kernel,
                                                    const OuterAxis& axis,
                                                    std::int64_t count,
                                                    std::string& why);

/// Blocks along an axis of the grid, in the kernel's names; unknown if they have no such form.
[[nodiscard]] model::Polynomial blocks_along(const MoveContext& context,
                                             const model::KernelModel& kernel,
                                             std::size_t axis);

/// Why a thread of this kernel cannot make several points; empty if nothing is against it.
[[nodiscard]] std::string outer_obstacle(const MoveContext& context,
                                         const model::KernelModel& kernel);

}  // namespace warpath
