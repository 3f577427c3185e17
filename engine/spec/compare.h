#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/portable/judge.h"
#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"

namespace warpath {

/// Result of comparing an output with its reference.
struct Comparison {
  bool passed = false;
  std::int64_t elements = 0;
  std::int64_t bad_elements = 0;  ///< outside the per-element bound, or of the wrong class
  /// element with the largest `worst_ratio`; -1 if there are no elements
  std::int64_t worst_index = -1;
  /// |out - ref| / (atol + rtol*|ref|); infinite for a wrong class
  double worst_ratio = 0;
  double max_abs_error = 0;  ///< over elements finite in both
  /// ||out - ref||_2 / ||ref||_2 over elements finite in both; 0/0 is 0
  double relative_norm = 0;
  /// one line: what failed and where, or the figures if it passed
  std::string detail;
};

/// Figures accumulated over all elements, on host or device.
struct ComparisonFigures {
  std::int64_t bad_elements = 0;
  std::int64_t worst_index = -1;  ///< first with the largest ratio; `exact`: first that differs
  double worst_ratio = 0;
  double worst_output = 0, worst_reference = 0;  ///< at `worst_index`
  double max_abs_error = 0;
  portable::SquareSum error{}, reference{};  ///< over elements finite in both
};

/// "[4, 8]".
[[nodiscard]] std::string shape_text(std::span<const std::int64_t> shape);

/// ||error||_2 / ||reference||_2; 0/0 is 0.
[[nodiscard]] double relative_norm(const portable::SquareSum& error,
                                   const portable::SquareSum& reference);

/// The verdict for the figures of an output of extents `shape`.
[[nodiscard]] Comparison conclude(const ComparisonFigures& figures,
                                  const Tolerance& tolerance,
                                  std::span<const std::int64_t> shape);

/// Judges `output` against `reference` under `Tolerance`. The shapes should be equal; a mismatch is
/// a failed comparison, not an error. The reference may be of a wider type; it is rounded to the
/// output's only for `exact`. Non-finite elements must agree: NaN with NaN, infinities by sign; NaN
/// is never a wildcard. For infinite inputs `infinities` relaxes this, and integer outputs,
/// computed from such numbers, are not judged.
[[nodiscard]] Comparison compare(const Tensor& output,
                                 const Tensor& reference,
                                 const Tolerance& tolerance,
                                 Infinities infinities = Infinities::none);

}  // namespace warpath
