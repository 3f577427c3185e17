#pragma once

#include "engine/portable/judge.h"

/// What the host and the harness's kernels hand each other. Plain data without initialisers: some
/// of it lies in shared memory.
namespace warpath::cuda {

/// Key of a keystream; 128 bits.
struct MaskKey {
  portable::Word low, high;
};

/// Figures of one comparison. `nonce` is the launch's own: a record that does not carry it was not
/// written by that launch.
struct DeviceComparison {
  portable::Word nonce;
  portable::Word elements;      ///< compared
  portable::Word bad_elements;  ///< out of bounds or of the wrong class; `exact`: other bytes
  portable::Word finite;        ///< finite in both
  portable::Word first_bad;     ///< index; all ones if none
  portable::Word
      worst_index;  ///< first with the largest ratio (`exact`: first bad); all ones if none
  double worst_ratio;
  double worst_output, worst_reference;  ///< values at `worst_index`
  double max_abs_error;                  ///< over elements finite in both
  portable::SquareSum error, reference;  ///< over elements finite in both
};

/// 128-bit fingerprint of a buffer's bytes and length, with the launch's nonce.
struct DeviceDigest {
  portable::Word nonce;
  portable::Word size_bytes;
  portable::Word low, high;
};

/// What became of a guard zone.
struct DeviceGuard {
  portable::Word nonce;
  portable::Word size_bytes;
  portable::Word changed;       ///< bytes
  portable::Word first_offset;  ///< of the first changed byte; all ones if none
};

/// What is compared and by which bound.
struct CompareRule {
  portable::Word nonce;
  portable::Word elements;
  MaskKey key;  ///< of the reference, or two zeros where it lies unmasked
  double atol, rtol;
  DType output, reference;
  bool exact;
  bool any_nonfinite;  ///< two values agree that are both not finite
};

/// Kinds of values that replace those of a declared rule, so that a kernel which is right for one
/// distribution only is seen. Names in snake_case as in `kInputFamilies`.
enum class InputFamily : int {
  as_declared,
  tiny,            ///< times 2^-20; 16-bit types: 2^-6
  huge,            ///< times 2^10; 16-bit types: 2^4
  shifted,         ///< plus 1000 * scale
  constant,        ///< one of the tensor's own values everywhere
  sparse,          ///< nine of ten are zero
  heavy_tail,      ///< over the square root of a uniform number
  small_integers,  ///< -1, 0, 1
  mantissa,        ///< +-(1 + j * 2^-23), j random; float64: 2^-52
  cancellation,    ///< +-(1 + u * 2^-10) * scale, the sign alternating along rows and columns
  sorted_ties,     ///< eight ascending steps of scale / 2 along the last dimension
  rare_outliers,   ///< one in 1024 is as in `huge`, none of the first 4096
  specials,        ///< of 2048 one is NaN, infinite, -0 and nearly 0 each
  offset,          ///< plus 10 * scale
  far_offset,      ///< plus 100 * scale
  unit_row,        ///< the first row is 1, 0, 0, ...; the others as declared
};

/// How a tensor's values are replaced; element i follows from this, its own value and i alone.
struct FamilyRule {
  InputFamily family;
  DType dtype;  ///< a floating-point type; of others only `constant` changes anything
  portable::Word seed;
  portable::Word elements;
  portable::Word row;  ///< last dimension
  double scale;        ///< spread of the declared rule
  bool nonnegative;    ///< take the absolute value: the declared rule has no negative values
};

// Every thread of the canary takes kCanarySteps steps x -> x * kCanaryFactor + kCanaryTerm
// (Knuth's MMIX generator).
constexpr unsigned kCanarySteps = 1024;
constexpr portable::Word kCanaryFactor = 6364136223846793005ULL;
constexpr portable::Word kCanaryTerm = 1442695040888963407ULL;

}  // namespace warpath::cuda
