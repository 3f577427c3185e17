#pragma once

#include <cmath>

#include "engine/base/rng.h"

namespace warpath {

/// A draw of the standard Gumbel distribution (Gumbel 1954). The greatest of x_i + gumbel is i with
/// probability proportional to e^x_i.
[[nodiscard]] inline double gumbel(Rng& rng) {
  return -std::log(-std::log(0.5 * 0x1p-53 + rng.uniform()));
}

}  // namespace warpath
