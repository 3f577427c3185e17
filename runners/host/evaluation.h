#pragma once

#include <stop_token>
#include <vector>

#include "engine/plugin/runner.h"
#include "runners/host/baseline.h"
#include "runners/host/families.h"
#include "runners/host/gates.h"
#include "runners/host/options.h"
#include "runners/host/oracle.h"

namespace warpath::host {

/// What an evaluation works with; all of it outlives the call.
struct EvaluationContext {
  const Compiler& compiler;
  Oracle& oracle;
  Baseline& baseline;
  Families& families;
  WorkerClient& worker;           ///< of the candidate
  WorkerClient& baseline_worker;  ///< a process that no candidate is loaded into
  const HostOptions& options;
  std::vector<const Workload*> workloads;
};

/// Compiles, checks and, if nothing was found wrong, times one variant. Never throws for a bad
/// candidate.
[[nodiscard]] Outcome evaluate_variant(const EvaluationContext& context,
                                       const RunRequest& request,
                                       const std::stop_token& stop);

}  // namespace warpath::host
