#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath::cuda {

/// Maximum of the elements of all tensors of a small workload, together.
inline constexpr std::int64_t kSmallElements = std::int64_t{1} << 20U;

/// `workload` if it is small; otherwise versions of it with smaller sizes in the order in which to
/// try them; empty: none exist. Sizes are the integer arguments that extents of tensors depend on;
/// those in `fixed` are kept. First all are divided by one power of two, so that proportions hold
/// (the entries of a sparse matrix and its rows) and divisors are kept as far as possible; then
/// likewise, without letting sizes of 64 or more fall below 64. All satisfy the spec's constraints
/// and engine/spec/spec_check.h; whether the spec's kernel is correct on them must be tried.
[[nodiscard]] std::vector<Workload> smaller_workloads(const KernelSpec& spec,
                                                      const Workload& workload,
                                                      const std::set<std::string>& fixed);

/// Integer arguments that `baseline_ptx` reads and `ptx` does not: the variant has compiled them
/// in.
[[nodiscard]] std::set<std::string> integers_in_code(const KernelSpec& spec,
                                                     std::string_view baseline_ptx,
                                                     std::string_view ptx);

}  // namespace warpath::cuda
