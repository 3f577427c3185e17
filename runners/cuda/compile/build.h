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
#include "runners/cuda/plan/gate_plan.h"

namespace warpath::cuda {

/// A variant built for a device and judged by its text and code, without a GPU.
struct Build {
  Status status = Status::ok;
  std::string log;
  std::vector<GateResult> gates;  ///< of the phases text and code
  Candidate candidate;            ///< valid if status is ok
  Diagnosis diagnosis;            ///< static facts for the first scored workload
  double compile_seconds = 0;
};

/// The other side of a comparison of codes: what the spec's own kernel does is allowed.
struct BaselineText {
  std::vector<std::string> ptx;                   ///< by workload
  std::vector<std::vector<std::string>> entries;  ///< by workload: the entries launched
};

/// Compiles and judges variants, each version for the workloads it serves. Thread-safe; referenced
/// objects must outlive it.
class Builder {
 public:
  Builder(CompileService& service, GatePlan plan, std::string arch, DeviceLimits limits)
      : service_(service), plan_(std::move(plan)), arch_(std::move(arch)), limits_(limits) {}

  /// Never throws for a bad variant. `baseline`: null when building the baseline itself. `stage`
  /// selects the gates.
  [[nodiscard]] Build build(const KernelSpec& spec,
                            const Variant& variant,
                            const std::vector<const Workload*>& workloads,
                            const BaselineText* baseline,
                            Stage stage,
                            const std::stop_token& stop) const;
  /// PTX of every workload. Throws Error(bad_input) if `variant` does not compile.
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

/// The inputs of PTX analysis for `variant`: its integer parameters and launch under `workload`.
/// Throws Error if a launch expression cannot be evaluated.
[[nodiscard]] PtxLaunch ptx_launch(const KernelSpec& spec,
                                   const Variant& variant,
                                   const Workload& workload);

/// The spec's reference kernel as a variant; nullopt if its reference is of another kind.
[[nodiscard]] std::optional<Variant> reference_variant(const KernelSpec& spec);

}  // namespace warpath::cuda
