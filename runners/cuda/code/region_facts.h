#pragma once

#include "engine/plugin/diagnosis.h"
#include "runners/cuda/code/ptx_regions.h"

namespace warpath::cuda {

/// Adds facts of a launch derived from its regions. Their source is static_analysis if every loop
/// was counted, else assumed.
/// - work_global_bytes, work_shared_bytes: accessed by all threads; asynchronous copies count in
/// both
/// - work_atomics: atomic operations of all threads
/// - work_instructions, work_fp32, work_fp64, work_tensor, work_int32, work_sfu: operations of all
///   threads; a multiply-add counts two
/// - work_barriers: barriers that one thread passes
/// - loop_loads_in_flight: global loads that the hottest loop with any issues before it uses the
///   first of them
/// - loops_uncounted: loops without a known trip count; they count once
void add_region_facts(const PtxFunction& function,
                      const RegionGraph& graph,
                      const PtxLaunch& launch,
                      Diagnosis& diagnosis);

}  // namespace warpath::cuda
