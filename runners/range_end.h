#pragma once

#include <vector>

#include "engine/portable/family_rule.h"
#include "engine/spec/tensor.h"

namespace warpath {

/// True if kernels may be held to the baseline's `results` on `inputs` of `family`, one near an end
/// of the types' range (is_near_range_end()): if neither the baseline nor another correct kernel
/// leaves the range on the way. So the results must be those on the same digits near 1,
/// `near_one`, times a power of two, exactly; and, unless squares fit, each result that is no
/// integer must be one of the inputs (of up to 4096 results that is looked at). At the end:
/// - InputFamily::bottom: the results on `near_one`, with -infinity for what stands for it there,
///   and values of the inputs or integers;
/// - InputFamily::infinite_lines: each finite result is that on `near_one`, where nothing is
///   infinite, so that it does not depend on an infinite line; and some are finite.
/// All in one order.
[[nodiscard]] bool stays_in_range(InputFamily family,
                                  const std::vector<Tensor>& inputs,
                                  const std::vector<Tensor>& results,
                                  const std::vector<Tensor>& near_one);

}  // namespace warpath
