#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "moves/model/kernel_model.h"
#include "moves/syntax/syntax.h"

namespace warpath {

/// Where the kernel asks for its block or for the grid along an axis: `blockIdx.x`, `gridDim.x`.
struct LaunchPlaces {
  std::vector<const model::Expr*> blocks, grids;
};

/// nullopt with one line in `why` if the kernel may ask in a way that is not seen: the indices
/// whole, in a macro, or in a function that it calls.
[[nodiscard]] std::optional<LaunchPlaces> launch_places(const model::KernelModel& kernel,
                                                        std::size_t axis,
                                                        std::string& why);

}  // namespace warpath
