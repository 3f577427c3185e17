#pragma once

#include <vector>

#include "engine/portable/family_rule.h"
#include "engine/portable/judge.h"
#include "engine/spec/spec.h"
#include "engine/spec/tensor.h"

namespace warpath {

/// Of each of the baseline's `results` on `inputs` of `family`, one near an end of the types' range
/// (is_near_range_end()), whether kernels may be held to it: whether neither the baseline nor
/// another correct kernel leaves the range on the way to it. So its elements must be those on the
/// same digits near 1, `near_one`, times a power of two, exactly; and, unless squares fit, each
/// that is no integer must be one of the inputs (of up to 4096 elements that is looked at), or all
/// are as on `near_one` where the inputs are large: the baseline takes care of their size. At the
/// end:
/// - InputFamily::bottom: the elements on `near_one`, with -infinity and the least finite number
///   for what stands for them there, and values of the inputs or integers;
/// - InputFamily::infinite_lines, masked_infinities: each finite element is that on `near_one`,
///   where nothing is infinite, so that it depends on nothing that is; and some are finite.
/// All in one order. None where there are not as many on `near_one`.
[[nodiscard]] std::vector<bool> stay_in_range(InputFamily family,
                                              const std::vector<Tensor>& inputs,
                                              const std::vector<Tensor>& results,
                                              const std::vector<Tensor>& near_one);

/// Of results on InputFamily::infinite_lines and the like, which judge what depends on nothing that
/// is infinite: a line of zeros and of what is not finite does not say so, since another kernel may
/// divide what this one leaves out. Such lines are made NaN, for which anything is accepted.
void leave_out_undecided_lines(Tensor& expected);

/// Of results on InputFamily::outlier: those that differ from `without`, the ones without the large
/// numbers, are made NaN. What a large number is part of may be as far off as that is rounded, in
/// each product and sum on the way.
void leave_out_changed(Tensor& expected, const Tensor& without);

/// True if a floating-point `result` on inputs that are NaN everywhere has a finite element that is
/// not the `declared` one: the kernel makes a number of NaN, as fmaxf does. Where infinities are
/// multiplied by zeros, which no other kernel has to do, its results are then arbitrary numbers.
/// Concerns inputs that may_multiply().
[[nodiscard]] bool makes_numbers_of_nan(const Tensor& result, const Tensor& declared);

/// True if a kernel of `spec` may multiply `infinities` by zeros, its own ones (padding) included:
/// it reads more than one tensor of floating-point numbers.
[[nodiscard]] bool may_multiply(Infinities infinities, const KernelSpec& spec);

}  // namespace warpath
