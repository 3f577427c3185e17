#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "engine/plugin/move.h"

namespace warpath {

/// Maximum number of sizes that get a version of their own.
inline constexpr std::size_t kMostVersions = 4;

/// Values of the integer and bool arguments under `workload`, compiled in or passed.
[[nodiscard]] Bindings sizes_of(const KernelSpec& spec, const Workload& workload);

/// The sizes of the scored workloads of the device that a kernel may be specialised for, as values
/// of the integer and bool arguments; each is the `when` of a version. Empty if all workloads of
/// the device have the same sizes: any kernel is made for them. Of more than kMostVersions sizes,
/// those arguments count that have at most so many values together, as many arguments as possible;
/// if there are none, the kMostVersions sizes of the greatest weight, earlier ones first.
[[nodiscard]] std::vector<Bindings> version_sizes(const KernelSpec& spec,
                                                  const DeviceFacts& device);

/// A move that is carried out for each of version_sizes(), seeing only the workloads of that size,
/// and once for all of them. Where the results agree there is one kernel. Where they differ, or the
/// move does not apply to all, each size gets a version of its own, transformed or, where
/// the move does not apply, unchanged; the original kernel serves all other sizes. That general
/// kernel is changed only as long as it serves a scored workload. The variant itself is the version
/// of the first size. A move that makes versions is returned as it is.
[[nodiscard]] std::unique_ptr<Move> with_versions(std::unique_ptr<Move> move);

}  // namespace warpath
