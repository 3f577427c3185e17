#pragma once

#include "runners/cuda/measure/trial.h"

namespace warpath::cuda {

/// Waits, then compares the guard zones of all slots and of the scratch memory of workload `w` with
/// their patterns. Throws CandidateFault(rejected, poisoned) if a byte differs: inputs and
/// references may be overwritten too, so nothing in this process can be trusted.
void check_guards(Trial& trial, std::size_t w);

}  // namespace warpath::cuda
