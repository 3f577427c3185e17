#pragma once

#include "engine/base/dtype.h"
#include "engine/portable/family.h"
#include "engine/spec/compare.h"
#include "engine/spec/tensor.h"

namespace warpath {

/// How far from the reference a correct computation may end up on inputs that the spec's tolerance
/// was not written for: the worst that the baseline shows on these inputs and on the same inputs
/// changed in their last place. Such a change moves a sum by up to the rounding unit times the sum
/// of the absolute values of its terms, which is what any order of adding them may be off by.
struct Reach {
  double ratio = 0;  ///< error over the bound of the tolerance
  double error = 0;  ///< absolute error
  double norm = 0;   ///< relative 2-norm of the error
  /// a correct kernel stays within this multiple of what was measured: reach_factor()
  double factor = 32;
};

/// Another order of summation is off by a few times what the baseline is, the next narrower type by
/// 2^13 times: 32. More where a result adds up more than some thousand terms: half the square root
/// of their number. Each addition rounds what was added before it, terms that are alike all in one
/// direction, and between the baseline's blocks and one addition after the other lies that number.
[[nodiscard]] double reach_factor(const KernelSpec& spec, const Workload& workload);

/// The tolerance of `output` for inputs of `family`, which are up to family_growth() times as large
/// as declared ones. Exponentials and trigonometric functions, if `spec`'s kernel has any, turn the
/// rounding of an argument into a relative error of the result, and a correct kernel may round an
/// argument once more or once less than the reference (a fused multiply-add here and none there).
[[nodiscard]] Tolerance tolerance_on(InputFamily family,
                                     const KernelSpec& spec,
                                     std::string_view output);

/// Takes in what a comparison of the baseline's output found, multiplied by `share`. A comparison
/// in which an element is finite on one side only says nothing.
void extend(Reach& reach, const Comparison& baseline, double share = 1);

/// False if an element is of the wrong class: finite on one side only, infinities of unlike sign,
/// or unequal under an exact tolerance.
[[nodiscard]] bool classes_agree(const Comparison& comparison);

/// The tolerance with an absolute error and a norm that are within reach. Never below `tolerance`.
[[nodiscard]] Tolerance widened(const Tolerance& tolerance, const Reach& reach);

/// The verdict on an output that `by_tolerance` refused; `by_widened` is the comparison under
/// widened(). It passes if it is within both the reachable ratio and the reachable absolute error.
[[nodiscard]] Comparison judge_by_reach(Comparison by_tolerance,
                                        Comparison by_widened,
                                        const Reach& reach);

/// Judges `output` by `tolerance`, and where that refuses it by what is within `reach`.
[[nodiscard]] Comparison compare_within(const Tensor& output,
                                        const Tensor& reference,
                                        const Tolerance& tolerance,
                                        const Reach& reach,
                                        Infinities infinities);

/// `tolerance` for inputs whose results are `scale` times as large as those it was written for. Its
/// absolute part stays above 0, so that only a wrong class has an infinite ratio.
[[nodiscard]] Tolerance scaled(Tolerance tolerance, double scale);

/// What an error that nudging inputs of `dtype` causes is multiplied by, to tell what rounding in
/// arithmetic of at least single precision does: a 16-bit input is read exactly.
[[nodiscard]] double nudge_share(DType dtype);
/// Changes floating-point values in their last place: all upwards if `seed` is 0, otherwise each up
/// or down at random. The same bits as Harness::nudge gives. Other types stay as they are.
void nudge(Tensor& tensor, std::uint64_t seed);

}  // namespace warpath
