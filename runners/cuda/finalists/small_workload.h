#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath::cuda {

/// Of all tensors of a workload that counts as small, together.
inline constexpr std::int64_t kSmallElements = std::int64_t{1} << 20U;

/// `workload` where it is small, else workloads like it with smaller sizes, in the order in which
/// they should be tried; empty: there is none. Sizes are the integer arguments that extents of
/// tensors depend on; those in `fixed` stay. All are divided by one power of two, so that what is
/// proportional stays so (the entries of a sparse matrix and its rows), and divisors of the sizes
/// are kept as far as they can be; then the same, but no size of 64 and more gets below 64. All of
/// them satisfy the spec's constraints and engine/spec/spec_check.h; whether the spec's kernel is
/// right there must be tried.
[[nodiscard]] std::vector<Workload> smaller_workloads(const KernelSpec& spec,
                                                      const Workload& workload,
                                                      const std::set<std::string>& fixed);

/// Integer arguments that `baseline_ptx` reads and `ptx` does not: what the variant knows of them
/// is in its code.
[[nodiscard]] std::set<std::string> integers_in_code(const KernelSpec& spec,
                                                     std::string_view baseline_ptx,
                                                     std::string_view ptx);

}  // namespace warpath::cuda
