#pragma once

#include <cstdint>
#include <map>

#include "engine/plugin/diagnosis.h"
#include "engine/spec/launch.h"
#include "runners/cuda/code/ptx.h"
#include "runners/cuda/compile/compile.h"
#include "runners/cuda/driver/occupancy.h"

namespace warpath::cuda {

/// Facts about a kernel found without running it; all have the source static_analysis.
/// - registers_per_thread, barriers: as allocated by the assembler
/// - spill_store_bytes, spill_load_bytes: per thread, static count
/// - local_bytes: local memory per thread: arrays, spills and stack
/// - static_smem_bytes, dynamic_smem_bytes: shared memory per block
/// - code_bytes: size of the machine code
/// - ptx_instructions, ptx_CLASS: static counts by the classes of PtxFacts; empty classes are
/// omitted
/// - ptx_vector_loads: loads from global memory of 8 bytes or more per thread
/// - ptx_global_load_bytes, ptx_global_store_bytes: static sums
/// - blocks, threads_per_block, blocks_per_cluster: of the launch
/// - blocks_per_sm, active_warps_per_sm, occupancy: resident at once; occupancy as a share of the
///   multiprocessor's capacity
/// - occupancy_limit_threads, _blocks, _registers, _smem: 1 for the binding limit; others are
/// omitted
/// - waves, tail_fraction: blocks / blocks that run at once; filled share of the last wave
/// - those of add_region_facts (region_facts.h) and add_access_facts (access_facts.h)
///
/// `code`: with status ok; `ptx`: parse_ptx of its PTX; `parameters`: the kernel's integers by
/// index, for trip counts.
[[nodiscard]] Diagnosis static_diagnosis(
    const CompileResult& code,
    const PtxModule& ptx,
    const LaunchNumbers& launch,
    const DeviceLimits& device,
    const std::map<std::size_t, std::int64_t>& parameters = {});

/// What one block needs of a device, for occupancy() and limits_problem().
[[nodiscard]] BlockNeeds block_needs(const ResourceUsage& usage, const LaunchNumbers& launch);

}  // namespace warpath::cuda
