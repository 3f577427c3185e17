#pragma once

#include "engine/base/dtype.h"
#include "engine/portable/family.h"
#include "engine/spec/compare.h"
#include "engine/spec/tensor.h"

namespace warpath {

/// How far a result is from its reference.
struct Distance {
  double ratio = 0;  ///< error divided by the tolerance's bound
  double error = 0;  ///< absolute error
  double norm = 0;   ///< relative 2-norm of the error
};

/// The error that a correct computation may have on inputs that the spec's tolerance was not
/// written for: `factor` times the largest distance of the baseline on these inputs and on the same
/// inputs perturbed in their last place, and the reference's own error. Such a perturbation moves a
/// sum by up to the unit roundoff times the sum of the absolute values of its terms, which bounds
/// the effect of summing in any other order.
struct Reach {
  Distance baseline{};
  /// What a reference kernel's results move by when all its operations round up, or down: an
  /// addition of alike terms errs in one direction, which no perturbation of the terms shows. Zero
  /// for references of higher precision.
  Distance reference{};
  /// a correct kernel's error stays below this multiple of the measured one: reach_factor()
  double factor = 32;
};

/// At least 32: another summation order errs by a few times the baseline's error, the next narrower
/// type by 2^13 times. Half the square root of the number of terms of a result if that is more:
/// each addition rounds the partial sum, in the same direction if the terms are alike, and
/// sequential addition differs from the baseline's blocked one by that factor.
[[nodiscard]] double reach_factor(const KernelSpec& spec, const Workload& workload);

/// The tolerance of `output` on inputs of `family`, which are up to family_growth() times as large
/// as declared. If the kernel calls exponential or trigonometric functions, the tolerance grows:
/// they turn the rounding of an argument into a relative error of the result, and a correct kernel
/// may round an argument once more or once less than the reference (fused multiply-add).
[[nodiscard]] Tolerance tolerance_on(InputFamily family,
                                     const KernelSpec& spec,
                                     std::string_view output);

/// Raises `distance` to what a comparison found, multiplied by `share`. Ignores a comparison in
/// which an element is finite on one side only.
void extend(Distance& distance, const Comparison& found, double share = 1);

/// False if an element is of the wrong class: finite on one side only, infinities of opposite sign,
/// or unequal under an exact tolerance.
[[nodiscard]] bool classes_agree(const Comparison& comparison);

/// `tolerance` with its absolute error and norm raised to what `reach` allows; never lower.
[[nodiscard]] Tolerance widened(const Tolerance& tolerance, const Reach& reach);

/// The verdict on an output that failed `tolerance`; `by_widened` is the comparison under
/// widened(). It passes if both its ratio and its absolute error are within reach.
[[nodiscard]] Comparison judge_by_reach(Comparison by_tolerance,
                                        Comparison by_widened,
                                        const Reach& reach);

/// Judges `output` by `tolerance` and, if that fails, by `reach`.
[[nodiscard]] Comparison compare_within(const Tensor& output,
                                        const Tensor& reference,
                                        const Tolerance& tolerance,
                                        const Reach& reach,
                                        Infinities infinities);

/// Factor on the scale of a family's results, their root mean square over that on declared inputs:
/// a few large values among many small ones, or zeros, cancel in more results than it says.
[[nodiscard]] double tail_factor(InputFamily family);
/// `tolerance` for inputs whose results are `scale` times as large. Its absolute part stays above
/// 0, so that only a wrong class has an infinite ratio.
[[nodiscard]] Tolerance scaled(Tolerance tolerance, double scale);

/// Factor that converts an error caused by nudging inputs of `dtype` into the error of rounding in
/// single precision or better; 16-bit inputs are converted exactly.
[[nodiscard]] double nudge_share(DType dtype);
/// Changes floating-point values in their last place: all upwards if `seed` is 0, otherwise each up
/// or down at random. Bit-identical to Harness::nudge. Does nothing for other types.
void nudge(Tensor& tensor, std::uint64_t seed);

}  // namespace warpath
