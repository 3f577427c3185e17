#pragma once

#include <vector>

#include "runners/cuda/measure/problem.h"

namespace warpath::cuda {

/// How the baseline fares on `set`, one of Problem::family_sets: launched in separate memory on
/// first use.
[[nodiscard]] const FamilyBaseline& baseline_on(Problem& problem,
                                                std::size_t w,
                                                const InputSet& set);

/// The reach of correct kernels on `set`, one of Problem::family_sets, by tensor: measured with the
/// baseline in separate memory on first use.
[[nodiscard]] const std::vector<Reach>& reach_on(Problem& problem,
                                                 std::size_t w,
                                                 const InputSet& set);

}  // namespace warpath::cuda
