#pragma once

#include <stop_token>
#include <vector>

#include "engine/plugin/runner.h"
#include "runners/host/judge/baseline.h"
#include "runners/host/judge/families.h"
#include "runners/host/judge/gates.h"
#include "runners/host/judge/oracle.h"
#include "runners/host/options.h"

namespace warpath::host {

/// The environment of an evaluation; the referenced objects must outlive the call.
struct EvaluationContext {
  const Compiler& compiler;
  Oracle& oracle;
  Baseline& baseline;
  Families& families;
  WorkerClient& worker;           ///< of the candidate
  WorkerClient& baseline_worker;  ///< a process into which no candidate is loaded
  const HostOptions& options;
  std::vector<const Workload*> workloads;
};

/// Compiles, checks and, if every gate passed, times one variant. Never throws for a bad candidate.
[[nodiscard]] Outcome evaluate_variant(const EvaluationContext& context,
                                       const RunRequest& request,
                                       const std::stop_token& stop);

}  // namespace warpath::host
