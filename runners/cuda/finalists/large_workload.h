#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "engine/spec/spec.h"

namespace warpath::cuda {

/// A workload like a declared one with one size multiplied.
struct LargeWorkload {
  Workload workload;
  std::int64_t elements = 0;  ///< of its largest tensor
  std::int64_t bytes = 0;     ///< likewise
  bool operator==(const LargeWorkload&) const = default;
};

/// Workloads beyond what offsets of 32 bits reach.
struct LargePlan {
  /// Not beyond it where that can be had: who is wrong here already holds for the declared sizes
  /// alone.
  LargeWorkload within;
  /// ascending: past 2^32 bytes (2^31 where that is too much), past 2^31 elements; may be one, or
  /// none
  std::vector<LargeWorkload> beyond;
  /// why neither these nor the declared workload go past 2^31 elements
  std::string reason;
};

/// What a device gives for it.
struct LargeLimits {
  std::int64_t memory_bytes = 0;  ///< free
  double launch_ns = 0;           ///< of the spec's kernel on the declared workload; 0: not known
};

/// One integer argument that nothing but outermost extents of tensors follow is multiplied: all
/// rows stay as they are, there are more of them. Those in `fixed` are left alone
/// (integers_in_code). Of several, the one that needs the least factor. A workload has to satisfy
/// the spec's constraints and engine/spec/spec_check.h (launch limits of the spec's kernel), take
/// at most 2 s a launch if time grows as the size, and fit into `limits` with two sets of inputs,
/// expected values and working memory. Past 2^31 elements a spec's kernel may well be wrong, which
/// shows beside a reference kernel only: with another reference that is planned where the argument
/// has 64 bits.
[[nodiscard]] LargePlan larger_workloads(const KernelSpec& spec,
                                         const Workload& declared,
                                         const std::set<std::string>& fixed,
                                         const LargeLimits& limits);

}  // namespace warpath::cuda
