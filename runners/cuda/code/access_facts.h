#pragma once

#include "engine/plugin/diagnosis.h"
#include "runners/cuda/code/ptx_regions.h"

namespace warpath::cuda {

/// Adds facts on how the lanes of a warp access memory, from the addresses of the first warp if
/// they follow from constants, parameters, launch and lane (PtxValues). An unknown term that all
/// lanes share is assumed to be a multiple of a sector. An access counts as often as its region
/// runs. Accesses with unknown addresses are left out and change the source from static_analysis to
/// assumed. Without any known access a fact is omitted.
/// - static_sector_excess: 32-byte sectors touched by global loads, or by stores if more, over
/// those
///   that contiguous lanes would touch
/// - static_bank_ways: passes of shared memory over its banks, over those without a conflict
void add_access_facts(const PtxFunction& function,
                      const RegionGraph& graph,
                      const PtxLaunch& launch,
                      Diagnosis& diagnosis);

}  // namespace warpath::cuda
