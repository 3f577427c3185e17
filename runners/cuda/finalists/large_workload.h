#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath::cuda {

/// A declared workload with one size multiplied.
struct LargeWorkload {
  Workload workload;
  std::int64_t elements = 0;  ///< of its largest tensor
  std::int64_t bytes = 0;     ///< likewise
  bool operator==(const LargeWorkload&) const = default;
};

/// Workloads beyond the range of 32-bit offsets.
struct LargePlan {
  /// Within the range if possible: a variant that is wrong here is correct for the declared sizes
  /// only.
  LargeWorkload within;
  /// ascending: beyond 2^32 bytes (2^31 if that does not fit), beyond 2^31 elements; may be one or
  /// none
  std::vector<LargeWorkload> beyond;
  /// why neither these nor the declared workload exceed 2^31 elements
  std::string reason;
};

/// Limits set by the device.
struct LargeLimits {
  std::int64_t memory_bytes = 0;  ///< free memory
  double launch_ns = 0;           ///< of the spec's kernel on the declared workload; 0: unknown
};

/// Multiplies one integer argument that only outermost extents of tensors depend on, so that rows
/// keep their shape and there are more of them. Of several such arguments, the one with the
/// smallest factor is chosen; those in `fixed` (integers_in_code) are excluded. A workload must
/// satisfy the spec's constraints and engine/spec/spec_check.h (launch limits of the spec's
/// kernel), take at most 2 s per launch if time is proportional to size, and fit into `limits` with
/// two sets of inputs, expected values and working memory. Beyond 2^31 elements the spec's kernel
/// may itself be wrong, which only a reference kernel reveals: with any other reference such a
/// workload is planned only if the argument has 64 bits.
[[nodiscard]] LargePlan larger_workloads(const KernelSpec& spec,
                                         const Workload& declared,
                                         const std::set<std::string>& fixed,
                                         const LargeLimits& limits);

}  // namespace warpath::cuda
