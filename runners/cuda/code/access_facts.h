#pragma once

#include "engine/plugin/diagnosis.h"
#include "runners/cuda/code/ptx_regions.h"

namespace warpath::cuda {

/// How the lanes of a warp meet memory, from the addresses of the first warp where they follow from
/// constants, parameters, launch and lane (PtxValues). What is unknown and shared by all lanes is
/// taken for a multiple of a sector. Accesses count as often as their region runs; ones with
/// unknown addresses are left out and make the source assumed instead of static_analysis. Without
/// any that is known a fact is missing.
///
/// | fact | meaning |
/// | --- | --- |
/// | static_sector_excess | 32-byte sectors that global loads, or stores if that is more, touch
/// over those that contiguous lanes would | | static_bank_ways | passes over the banks that shared
/// memory takes over those without a conflict |
void add_access_facts(const PtxFunction& function,
                      const RegionGraph& graph,
                      const PtxLaunch& launch,
                      Diagnosis& diagnosis);

}  // namespace warpath::cuda
