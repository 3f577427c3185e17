#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "engine/plugin/outcome.h"
#include "engine/spec/spec.h"
#include "engine/spec/variant.h"
#include "runners/cuda/code/ptx_values.h"
#include "runners/cuda/compile/compile_service.h"
#include "runners/cuda/driver/candidate.h"
#include "runners/cuda/driver/occupancy.h"
#include "runners/cuda/gates/gate_plan.h"

namespace warpath::cuda {

/// A variant on its way to a device: judged by its text and code, without a GPU.
struct Build {
  Status status = Status::ok;
  std::string log;
  std::vector<GateResult> gates;  ///< on text and code
  Candidate candidate;            ///< status ok
  Diagnosis diagnosis;            ///< static facts under the first workload
  double compile_seconds = 0;
};

/// The other side of a comparison of codes: what the spec's own kernel does is allowed.
struct BaselineText {
  std::vector<std::string> ptx;                   ///< by workload
  std::vector<std::vector<std::string>> entries;  ///< by workload: what is launched of it
};

/// Compiles a variant and judges it. Thread-safe; what it refers to outlives it.
class Builder {
 public:
  Builder(CompileService& service, GatePlan plan, std::string arch, DeviceLimits limits)
      : service_(service), plan_(std::move(plan)), arch_(std::move(arch)), limits_(limits) {}

  /// Never throws for a bad variant. `baseline`: null for the baseline itself. `stage` decides
  /// which gates run.
  [[nodiscard]] Build build(const KernelSpec& spec,
                            const Variant& variant,
                            const std::vector<const Workload*>& workloads,
                            const BaselineText* baseline,
                            Stage stage,
                            const std::stop_token& stop) const;
  /// PTX of every workload. Throws Error(bad_input) where `variant` does not compile.
  [[nodiscard]] BaselineText text_of(const KernelSpec& spec,
                                     const Variant& variant,
                                     const std::vector<const Workload*>& workloads) const;

 private:
  CompileService& service_;
  const GateTable gates_;
  const GatePlan plan_;
  const std::string arch_;
  const DeviceLimits limits_;
};

/// What is known when the PTX of `variant` is read: its integers and its launch under `workload`.
/// Throws Error where a launch expression fails.
[[nodiscard]] PtxLaunch ptx_launch(const KernelSpec& spec,
                                   const Variant& variant,
                                   const Workload& workload);

/// The spec's reference kernel as a variant; nullopt where its reference is something else.
[[nodiscard]] std::optional<Variant> reference_variant(const KernelSpec& spec);

}  // namespace warpath::cuda
