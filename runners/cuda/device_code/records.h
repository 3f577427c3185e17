#pragma once

#include "engine/portable/family.h"
#include "engine/portable/judge.h"

/// Records exchanged between the host and the harness's kernels. Plain data without initialisers:
/// some is in shared memory.
namespace warpath::cuda {

/// Key of a keystream; 128 bits.
struct MaskKey {
  portable::Word low, high;
};

/// Figures of one comparison. `nonce` is unique to the launch: a record without it was not written
/// by that launch.
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

/// State of a guard zone.
struct DeviceGuard {
  portable::Word nonce;
  portable::Word size_bytes;
  portable::Word changed;       ///< bytes
  portable::Word first_offset;  ///< of the first changed byte; all ones if none
};

/// The parameters of a comparison.
struct CompareRule {
  portable::Word nonce;
  portable::Word elements;
  MaskKey key;  ///< of the reference, or two zeros if it is not masked
  double atol, rtol;
  DType output, reference;
  bool exact;
  Infinities infinities;  ///< as in compare()
};

// Every thread of the canary takes kCanarySteps steps x -> x * kCanaryFactor + kCanaryTerm
// (Knuth's MMIX generator).
constexpr unsigned kCanarySteps = 1024;
constexpr portable::Word kCanaryFactor = 6364136223846793005ULL;
constexpr portable::Word kCanaryTerm = 1442695040888963407ULL;

}  // namespace warpath::cuda
