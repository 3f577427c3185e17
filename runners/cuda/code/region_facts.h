#pragma once

#include "engine/plugin/diagnosis.h"
#include "runners/cuda/code/ptx_regions.h"

namespace warpath::cuda {

/// Facts of a launch that its regions give. Their source is static_analysis where every loop was
/// counted, else assumed.
///
/// | fact | meaning |
/// | --- | --- |
/// | work_global_bytes, work_shared_bytes | asked for by all threads, asynchronous copies in both |
/// | work_atomics | atomic operations of all threads |
/// | work_instructions, work_fp32, work_fp64, work_tensor, work_int32, work_sfu | operations of all
/// threads; a product is two with its sum | | work_barriers | barriers that one thread passes | |
/// loop_loads_in_flight | global loads that the hottest loop with any issues before it uses the
/// first of them | | loops_uncounted | loops without a known trip count; they count once |
void add_region_facts(const PtxFunction& function,
                      const RegionGraph& graph,
                      const PtxLaunch& launch,
                      Diagnosis& diagnosis);

}  // namespace warpath::cuda
