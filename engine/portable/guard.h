#pragma once

#include "engine/portable/random.h"

namespace warpath::portable {

/// Guard patterns that consist of one repeated word, besides random ones. At least one of them
/// reveals any operation on memory that a kernel does not own: a number added to zeros, bits
/// cleared in ones, a minimum with large numbers, a maximum with small ones, as integers and
/// floating-point numbers of any width.
constexpr Word kConstantGuards = 5;
constexpr Word kZeroGuard = 0;
constexpr Word kOnesGuard = 1;  // NaNs, as floating-point numbers of any width

/// Pattern number `kind` below kConstantGuards.
inline constexpr Word constant_guard(Word kind) {
  switch (kind) {
    case kZeroGuard:
      return 0;
    case kOnesGuard:
      return ~Word{0};
    case 2:
      // large positive numbers: 6.1e4 as float16, 1.3e36 as bfloat16 and float32
      return 0x7b7b7b7b7b7b7b7bULL;
    case 3:
      return 0xfbfbfbfbfbfbfbfbULL;  // large negative floating-point numbers
    default:
      return 0x8080808080808080ULL;  // large negative integers
  }
}

/// Word `index` of the guard pattern of `seed`: constant for seeds below kConstantGuards, otherwise
/// random words.
inline Word guard_word(Word seed, Word index) {
  return seed < kConstantGuards ? constant_guard(seed) : mix(mix(seed) + index);
}

}  // namespace warpath::portable
