#pragma once

#include <cstdint>
#include <map>

#include "engine/plugin/diagnosis.h"
#include "engine/spec/launch.h"
#include "runners/cuda/code/ptx.h"
#include "runners/cuda/compile/compile.h"
#include "runners/cuda/driver/occupancy.h"

namespace warpath::cuda {

/// What can be said of a kernel without running it; every fact has the source static_analysis.
///
/// | fact | meaning |
/// | --- | --- |
/// | registers_per_thread, barriers | as the assembler gives them out |
/// | spill_store_bytes, spill_load_bytes | a thread, of the instructions as written |
/// | local_bytes | local memory a thread: arrays, spills and stack |
/// | static_smem_bytes, dynamic_smem_bytes | shared memory a block |
/// | code_bytes | size of the machine code |
/// | ptx_instructions, ptx_CLASS | counts as written, by the classes of PtxFacts; a class without
/// any is left out | | ptx_vector_loads | loads from global memory of 8 bytes and more a thread |
/// | ptx_global_load_bytes, ptx_global_store_bytes | summed over the instructions as written |
/// | blocks, threads_per_block, blocks_per_cluster | of the launch |
/// | blocks_per_sm, active_warps_per_sm, occupancy | resident at once; occupancy as share of what
/// the multiprocessor holds | | occupancy_limit_threads, _blocks, _registers, _smem | 1: this binds
/// first; the others are left out | | those of add_region_facts (region_facts.h) and
/// add_access_facts (access_facts.h) | work of the launch, loops; sectors, banks | | waves,
/// tail_fraction | blocks / blocks that run at once; share of the last wave that is filled |
///
/// `code`: status ok, `ptx`: parse_ptx of its PTX, `parameters`: the kernel's integers by index,
/// for trip counts.
[[nodiscard]] Diagnosis static_diagnosis(
    const CompileResult& code,
    const PtxModule& ptx,
    const LaunchNumbers& launch,
    const DeviceLimits& device,
    const std::map<std::size_t, std::int64_t>& parameters = {});

/// What one block takes on a device, for occupancy() and limits_problem().
[[nodiscard]] BlockNeeds block_needs(const ResourceUsage& usage, const LaunchNumbers& launch);

}  // namespace warpath::cuda
