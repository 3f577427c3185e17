#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/setup/recorded_run.h"

namespace warpath {

/// A workload of a run's device, and what serves it.
struct ServedSize {
  std::string workload;
  WorkloadRole role = WorkloadRole::score;
  double weight = 1;
  Bindings values;          ///< integer and bool arguments
  std::size_t version = 0;  ///< in kernels_of() the variant
  double baseline_ns = 0;   ///< beside the kernel if so measured; 0: it is not timed, or failed
  double time_ns = 0;       ///< likewise
  [[nodiscard]] double speedup() const { return time_ns > 0 ? baseline_ns / time_ns : 0; }
};

/// "score", "regress", "guard"
[[nodiscard]] std::string_view role_text(WorkloadRole role);
/// The outcome that counts: as timed again at the end if it was; null if there is none.
[[nodiscard]] const Outcome* counted_outcome(const RecordedNode& node);
/// The workloads of the run's device under a node, in the order of the spec.
[[nodiscard]] std::vector<ServedSize> served_sizes(const RecordedRun& run, std::size_t node);
/// The same of a variant; an outcome that is null has no times.
[[nodiscard]] std::vector<ServedSize> served_sizes(const KernelSpec& spec,
                                                   const DeviceFacts& device,
                                                   const Variant& variant,
                                                   const Outcome* outcome,
                                                   const Outcome* baseline);
/// "N = 512, C = 256": those values that differ between the workloads; empty if none does.
[[nodiscard]] std::string differing_text(const std::vector<ServedSize>& sizes,
                                         const Bindings& values);

/// Header and a row a workload: what runs it, and its times.
[[nodiscard]] std::vector<std::vector<std::string>> size_rows(const std::vector<ServedSize>& sizes,
                                                              const Variant& variant);

}  // namespace warpath
