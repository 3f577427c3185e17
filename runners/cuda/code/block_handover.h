#pragma once

#include <string>

#include "runners/cuda/code/pointer_origins.h"
#include "runners/cuda/code/ptx.h"

namespace warpath::cuda {

/// What is wrong, for certain, with how blocks of `entry` hand results to each other in one launch;
/// one line, empty where nothing is seen. Such code is right by chance: stores become visible in
/// their order mostly, and atomics of a block's scope reach the device mostly.
/// - A block stores to a buffer, takes a ticket by an atomic that is no release, and no fence
///   stands between; the ticket then decides whether it reads that buffer, at places that depend on
///   neither the ticket nor the block: what other blocks stored.
/// - An atomic of a block's scope changes global memory at a place that does not depend on the
///   block, so that other blocks change it too.
/// Calls are not followed. Linear in the size of `entry` times its tickets.
[[nodiscard]] std::string handover_problem(const PtxFunction& entry, const BufferTraffic& traffic);

}  // namespace warpath::cuda
