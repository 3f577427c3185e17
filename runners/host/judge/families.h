#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "runners/host/execute/buffer.h"
#include "runners/host/judge/baseline.h"
#include "runners/host/judge/oracle.h"
#include "runners/host/options.h"
#include "runners/inputs/input_choices.h"

namespace warpath::host {

/// Two tensor arguments that share one buffer in a launch, as indices of kernel parameters. The
/// first is only read.
struct SharedBuffer {
  std::uint32_t first = 0, second = 0;
  auto operator<=>(const SharedBuffer&) const = default;
};

/// The pairs that the spec allows to share a buffer and for which it defines the result: an input
/// with an output, or read tensors of equal type and size.
[[nodiscard]] std::vector<SharedBuffer> shared_buffers(const KernelSpec& spec,
                                                       const Workload& workload);

/// Tensors begin or end at unmapped pages where integers may be places there (places_at()).
[[nodiscard]] Placement placement_on(const FamilyChoice& choice);

/// Inputs of other families, and inputs for launches on shared buffers, that the spec's own kernel
/// handles correctly; where it fails, candidates are not judged. Made on first use and kept.
/// Thread-safe.
class Families {
 public:
  Families(const KernelSpec& spec,
           Oracle& oracle,
           Baseline& baseline,
           const HostOptions& options,
           const std::string& program);

  /// The families that change an input of `workload` and by which every evaluation at confirmation,
  /// or one at screening, is judged.
  [[nodiscard]] static std::vector<FamilyChoice> choices(const KernelSpec& spec,
                                                         const Workload& workload,
                                                         bool screening,
                                                         std::uint64_t seed,
                                                         std::uint64_t workload_bytes);
  /// Null if the baseline is wrong on it.
  [[nodiscard]] std::shared_ptr<const InputSet> of_family(const Workload& workload,
                                                          const FamilyChoice& choice);
  /// Null if the baseline is wrong when the two share a buffer.
  [[nodiscard]] std::shared_ptr<const InputSet> of_shared(const Workload& workload,
                                                          const SharedBuffer& shared);

 private:
  [[nodiscard]] InputSet make(const Workload& workload,
                              const FamilyChoice& choice,
                              std::uint64_t seed);
  /// The outputs in which the baseline leaves the range: those not of stay_in_range().
  [[nodiscard]] std::set<std::string> out_of_range(const Workload& workload,
                                                   const InputSet& inputs,
                                                   const FamilyChoice& choice);
  /// The outputs that makes_numbers_of_nan() says of the baseline.
  [[nodiscard]] const std::set<std::string>& numbers_of_nan(const Workload& workload);
  [[nodiscard]] bool is_right(const Workload& workload,
                              InputSet& inputs,
                              InputFamily family,
                              const std::optional<SharedBuffer>& shared);
  /// All outputs of one launch; empty if it fails.
  [[nodiscard]] TensorMap run_baseline(const Workload& workload,
                                       const InputSet& inputs,
                                       const std::optional<SharedBuffer>& shared);
  [[nodiscard]] bool judge_baseline(const Workload& workload,
                                    InputSet& inputs,
                                    InputFamily family,
                                    const std::optional<SharedBuffer>& shared);

  const KernelSpec spec_;
  Oracle& oracle_;
  Baseline& baseline_;
  const HostOptions options_;
  std::mutex mutex_;
  WorkerClient worker_;  ///< of the baseline
  std::map<std::pair<std::string, FamilyChoice>, std::shared_ptr<const InputSet>> families_;
  std::map<std::pair<std::string, SharedBuffer>, std::shared_ptr<const InputSet>> shared_;
  std::map<std::string, std::set<std::string>> numbers_of_nan_;  // by workload
};

}  // namespace warpath::host
