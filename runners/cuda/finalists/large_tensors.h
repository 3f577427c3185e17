#pragma once

#include "engine/plugin/outcome.h"
#include "runners/cuda/finalists/finalist.h"

namespace warpath::cuda {

/// Gate large_tensors: runs a finalist, in a worker of its own, on workloads whose tensors exceed
/// 2^31 bytes and 2^31 elements (large_workload.h), beside the spec's reference kernel or, without
/// one, its own kernel. Tolerances are wide: the target is an offset that wraps. Nothing is
/// concluded where the spec's kernel is wrong; a variant that is already wrong at another size
/// below 2^31 bytes is specialised to the spec's sizes, which is allowed. Takes some seconds and
/// most of the device's memory; never throws for a bad candidate.
[[nodiscard]] GateResult check_large_tensors(const FinalistSetup& setup);

}  // namespace warpath::cuda
