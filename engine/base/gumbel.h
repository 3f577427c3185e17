#pragma once

#include <cmath>

#include "engine/base/rng.h"

namespace warpath {

/// Draws from the standard Gumbel distribution (Gumbel 1954). The maximum of x_i + gumbel is at i
/// with probability proportional to e^x_i.
[[nodiscard]] inline double gumbel(Rng& rng) {
  return -std::log(-std::log(0.5 * 0x1p-53 + rng.uniform()));
}

}  // namespace warpath
