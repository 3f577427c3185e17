#pragma once

#include <functional>

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
  /// as `ratio`, of all elements but one in 1024, up to a factor of 4 and not below 1
  double usual_ratio = 0;
};

/// The comparison of one result with its reference under any tolerance.
using CompareUnder = std::function<Comparison(const Tolerance&)>;
/// Compares tensors that outlive it.
[[nodiscard]] CompareUnder compare_under(const Tensor& output,
                                         const Tensor& reference,
                                         Infinities infinities);

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
/// sequential addition differs from the baseline's blocked one by that factor. The terms are alike
/// in the candidate alone if it adds differences from one value and nearly all inputs are zeros.
[[nodiscard]] double reach_factor(const KernelSpec& spec, const Workload& workload);

/// The tolerance of `output` on inputs of `family`, which are up to family_growth() times as large
/// as declared. If the kernel calls exponential or trigonometric functions, the tolerance grows:
/// they turn the rounding of an argument into a relative error of the result, and a correct kernel
/// may round an argument once more or once less than the reference (fused multiply-add).
[[nodiscard]] Tolerance tolerance_on(InputFamily family,
                                     const KernelSpec& spec,
                                     std::string_view output);

/// Raises `distance` to what `found`, the comparison under `tolerance`, says, multiplied by
/// `share`. `again` compares the same result under others, if many elements are out of bounds.
/// Ignores a comparison in which an element is finite on one side only.
void extend(Distance& distance,
            const Comparison& found,
            const Tolerance& tolerance,
            const CompareUnder& again,
            double share = 1);

/// False if an element is of the wrong class: finite on one side only, infinities of opposite sign,
/// or unequal under an exact tolerance.
[[nodiscard]] bool classes_agree(const Comparison& comparison);

/// The relative 2-norm that the error of a correct computation may have.
[[nodiscard]] double norm_within(const Reach& reach);

/// `tolerance` with its absolute error and norm raised to what `reach` allows; never lower.
[[nodiscard]] Tolerance widened(const Tolerance& tolerance, const Reach& reach);

/// The verdict on an output that failed `tolerance`, by which it was `found` to be off; `again`
/// compares it under others. It passes if
/// - its largest ratio, its absolute error and its norm are within reach, and
/// - at most one element in 32 is beyond what nearly all of the baseline's are within: the largest
///   error may be that of a jump of the function, or of a few ill-conditioned results.
[[nodiscard]] Comparison judge_by_reach(Comparison found,
                                        const Tolerance& tolerance,
                                        const Reach& reach,
                                        const CompareUnder& again);

/// Judges `output` by `tolerance` and, if that fails, by `reach`.
[[nodiscard]] Comparison compare_within(const Tensor& output,
                                        const Tensor& reference,
                                        const Tolerance& tolerance,
                                        const Reach& reach,
                                        Infinities infinities);

/// The size of a family's results: root mean squares.
struct ResultSize {
  double ratio = 1;     ///< over that on declared inputs
  double declared = 0;  ///< on declared inputs, where the kernel has_integer_factors(); else 0
};
/// Factor on the scale of a family's results, their root mean square over that on declared inputs:
/// a few large values among many small ones, or zeros, cancel in more results than it says.
[[nodiscard]] double tail_factor(InputFamily family);
/// `tolerance` for inputs of `family` whose results are of `size`. Results of inputs
/// that are as large as declared ones (not may_be_smaller()) are smaller where terms cancel or are
/// zero: another order of operations may be off there by as much as anywhere, so the absolute
/// part stays as it is, and the norm is that of an error beside results of the declared size. Where
/// integers are factors their zero point may be taken out of a sum, whose terms are then not small
/// even if the integers are that: the absolute part is the bound of a result of the declared size.
/// It also stays where a few large inputs make some results large (InputFamily::outlier). The
/// absolute part stays above 0, so that only a wrong class has an infinite ratio.
[[nodiscard]] Tolerance scaled(Tolerance tolerance, InputFamily family, const ResultSize& size);

/// Factor that converts an error caused by nudging inputs of `dtype` into the error of rounding in
/// single precision or better; 16-bit inputs are converted exactly.
[[nodiscard]] double nudge_share(DType dtype);
/// Changes floating-point values in their last place: all upwards if `seed` is 0, otherwise each up
/// or down at random. Bit-identical to Harness::nudge. Does nothing for other types.
void nudge(Tensor& tensor, std::uint64_t seed);

}  // namespace warpath
