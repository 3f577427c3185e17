#pragma once

#include "engine/plugin/outcome.h"
#include "runners/cuda/finalists/finalist.h"

namespace warpath::cuda {

/// Gate large_tensors: a finalist on workloads whose tensors go past 2^31 bytes and past 2^31
/// elements (large_workload.h), beside the spec's reference kernel, or its own kernel where the
/// reference is none, in a worker of its own. Tolerances are wide: what is looked for is an offset
/// that wraps. Where the spec's kernel is not right, nothing is said of others; a variant that is
/// wrong at another size within 2^31 bytes too holds for the spec's sizes, as it may. Takes some
/// seconds and most of the device's memory; never throws for a bad candidate.
[[nodiscard]] GateResult check_large_tensors(const FinalistSetup& setup);

}  // namespace warpath::cuda
