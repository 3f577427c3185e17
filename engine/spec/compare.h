#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "engine/portable/judge.h"
#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"

namespace warpath {

/// What comparing an output with its reference found.
struct Comparison {
  bool passed = false;
  std::int64_t bad_elements = 0;  ///< outside the per-element bound, or of the wrong class
  /// element with the largest `worst_ratio`; -1 if there are no elements
  std::int64_t worst_index = -1;
  /// |out - ref| / (atol + rtol*|ref|); infinite for a wrong class
  double worst_ratio = 0;
  double max_abs_error = 0;  ///< over elements finite in both
  /// ||out - ref||_2 / ||ref||_2 over elements finite in both; 0/0 is 0
  double relative_norm = 0;
  /// one line: what failed and where, or the figures of a pass
  std::string detail;
};

/// What passing over all elements found, wherever that was done.
struct ComparisonFigures {
  std::int64_t bad_elements = 0;
  std::int64_t worst_index = -1;  ///< first with the largest ratio; `exact`: first that differs
  double worst_ratio = 0;
  double worst_output = 0, worst_reference = 0;  ///< at `worst_index`
  double max_abs_error = 0;
  portable::SquareSum error{}, reference{};  ///< over elements finite in both
};

/// ||error||_2 / ||reference||_2; 0/0 is 0.
[[nodiscard]] double relative_norm(const portable::SquareSum& error,
                                   const portable::SquareSum& reference);

/// The verdict that the figures of an output of extents `shape` deserve.
[[nodiscard]] Comparison conclude(const ComparisonFigures& figures,
                                  const Tolerance& tolerance,
                                  std::span<const std::int64_t> shape);

/// Judges `output` against `reference` as Tolerance says. The two must have equal shapes; the
/// reference may be of another (wider) type, it is then rounded to the output's only for `exact`.
/// Non-finite elements must agree: NaN with NaN, infinities by sign; NaN is never a wildcard.
/// Where inputs are infinite, `infinities` says what is excused, and integers, made of such
/// numbers, are not judged. A shape that differs is a failed comparison, not an error.
[[nodiscard]] Comparison compare(const Tensor& output,
                                 const Tensor& reference,
                                 const Tolerance& tolerance,
                                 Infinities infinities = Infinities::none);

}  // namespace warpath
