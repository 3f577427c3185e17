#pragma once

#include "runners/cuda/measure/trial.h"

namespace warpath::cuda {

/// Waits, then compares the guard zones of all slots and of the scratch memory of workload `w` with
/// their patterns. Throws CandidateFault(rejected, poisoned) if a byte differs: inputs and
/// references may be overwritten too, so nothing in this process can be trusted.
void check_guards(Trial& trial, std::size_t w);

/// Checks the guard zones, then fills those of the first slot of workload `w` with NaNs. At an end
/// of their range, inputs may lead a kernel outside, to an element that it gives no weight: times a
/// NaN, that shows in the result.
void surround_by_nans(Trial& trial, std::size_t w);

/// The same with random words, as outside of surround_by_nans().
void surround_by_noise(Trial& trial, std::size_t w);

}  // namespace warpath::cuda
