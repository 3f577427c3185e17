#pragma once

#include "runners/cuda/measure/trial.h"

namespace warpath::cuda {

/// Waits and compares the guard zones of all slots of workload `w`, and of its scratch memory, with
/// their patterns. Throws CandidateFault(rejected, poisoned) where a byte differs: inputs and
/// references may be hit as well, and nothing in this process is trusted any more.
void check_guards(Trial& trial, std::size_t w);

}  // namespace warpath::cuda
