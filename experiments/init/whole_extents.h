#pragma once

#include <cstdint>
#include <optional>
#include <set>

#include "moves/model/affine.h"

namespace warpath {

/// nx * ny - nx - 1, what a stencil reaches, is part of nx * ny; nullopt for other sizes.
[[nodiscard]] std::optional<model::Polynomial> whole_of(const model::Polynomial& end);

/// 4 * n - 3, one beyond the last of indices in steps of four, as the 4 * n elements that four at
/// once reach; other extents as they are.
[[nodiscard]] model::Polynomial of_whole_steps(const model::Polynomial& end);

/// The constants by which an extent divides sizes, and it itself if it is one: (n + 15) / 16 gives
/// 16.
[[nodiscard]] std::set<std::int64_t> tiles_of(const model::Polynomial& extent);

}  // namespace warpath
