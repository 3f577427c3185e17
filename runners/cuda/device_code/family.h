#pragma once

#include "engine/portable/random.h"
#include "runners/cuda/device_code/records.h"

namespace warpath::cuda {

/// Index of the element that InputFamily::constant repeats; rule.elements >= 1.
inline portable::Word chosen_element(const FamilyRule& rule) {
  return portable::mix(rule.seed) % rule.elements;
}

/// InputFamily::huge is the declared values times 2 to this power.
inline int huge_exponent(DType dtype) { return portable::width_of(dtype) == 2 ? 4 : 10; }

/// What element `i` of value `own` becomes. `chosen`: the value at chosen_element, which only
/// InputFamily::constant needs.
inline double family_value(const FamilyRule& rule, portable::Word i, double own, double chosen) {
  const bool narrow = portable::width_of(rule.dtype) == 2;
  const portable::Word bits = portable::random_word(rule.seed, i, 3);
  const double sign = (bits & 1U) != 0 ? -1 : 1;
  const portable::Word column = i % rule.row;
  double x = own;
  switch (rule.family) {
    case InputFamily::as_declared:
      return own;
    case InputFamily::tiny:
      x = own * (narrow ? 0x1p-6 : 0x1p-20);
      break;
    case InputFamily::huge:
      x = own * (1 << huge_exponent(rule.dtype));
      break;
    case InputFamily::shifted:
      x = own + 1000 * rule.scale;
      break;
    case InputFamily::constant:
      x = chosen;
      break;
    case InputFamily::sparse:
      x = portable::unit(bits) < 0.9 ? 0 : own;
      break;
    case InputFamily::heavy_tail:
      x = own / sqrt(portable::unit(bits) + 0x1p-54);
      break;
    case InputFamily::small_integers:
      x = static_cast<double>(static_cast<int>(portable::multiply_high(bits, 3)) - 1);
      break;
    case InputFamily::mantissa: {
      const bool wide = rule.dtype == DType::f64;
      const double fraction = wide ? static_cast<double>(bits >> 12U) * 0x1p-52
                                   : static_cast<double>(bits >> 41U) * 0x1p-23;
      x = sign * (1 + fraction);
      break;
    }
    case InputFamily::cancellation: {
      const bool odd = (column + i / rule.row) % 2 != 0;
      x = (odd ? -1 : 1) * (1 + portable::unit(bits) * 0x1p-10) * rule.scale;
      break;
    }
    case InputFamily::sorted_ties:
      x = (static_cast<double>(column * 8 / rule.row) - 3) * 0.5 * rule.scale;
      break;
    case InputFamily::rare_outliers: {
      const portable::Word quiet = rule.elements > 8192 ? 4096 : rule.elements / 2;
      if (i >= quiet && portable::unit(bits) < 0x1p-10) x = own * (narrow ? 0x1p4 : 0x1p10);
      break;
    }
    case InputFamily::specials: {
      const portable::Word kind = portable::multiply_high(bits, 1U << 16U) / 32;
      if (kind == 0) x = portable::double_of(0x7ff8000000000000ULL);
      if (kind == 1) x = portable::double_of(0x7ff0000000000000ULL);
      if (kind == 2) x = -0.0;
      if (kind == 3) x = own * 0x1p-126 * 0x1p-10;
      break;
    }
    case InputFamily::offset:
      x = own + 10 * rule.scale;
      break;
    case InputFamily::far_offset:
      x = own + 100 * rule.scale;
      break;
    case InputFamily::unit_row:
      if (i < rule.row) x = i == 0 ? 1 : 0;
      break;
  }
  return rule.nonnegative ? fabs(x) : x;
}

}  // namespace warpath::cuda
