#pragma once

#include "engine/portable/random.h"

namespace warpath::portable {

/// The relative change of a nudged value: one or two units in the last place of a floating-point
/// type.
inline double nudge_step(DType dtype) {
  switch (dtype) {
    case DType::f64:
      return 0x1p-52;
    case DType::f16:
      return 0x1p-10;
    case DType::bf16:
      return 0x1p-7;
    default:
      return 0x1p-23;
  }
}

/// Element `i` of value `own`, nudged: upwards if `seed` is 0, otherwise up or down at random. An
/// infinity has no last place, and stays.
inline double nudged(DType dtype, Word seed, Word i, double own) {
  const bool down = seed != 0 && (random_word(seed, i, 5) & 1U) != 0;
  const double change = is_finite(own) ? nudge_step(dtype) * fabs(own) : 0;
  return down ? own - change : own + change;
}

}  // namespace warpath::portable
