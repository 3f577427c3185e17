#pragma once

#include "runners/cuda/measure/trial.h"

namespace warpath::cuda {

/// The share of the bytes that the spec declares that its own kernel moves: what a cold launch on
/// the first scored workload reads, by the device's counters, and what it may write. Rows that end
/// early, masks and lengths make less work than their arrays are long, and where a spec overlooks
/// that no candidate is to blame. 1 where it is near 1, where counters are not permitted, and where
/// no bytes are declared. Measured once for a problem; waits.
double moved_share_of_declared(Trial& trial);

}  // namespace warpath::cuda
