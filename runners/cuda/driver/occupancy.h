#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/spec/launch.h"

namespace warpath::cuda {

/// Device attributes that determine occupancy, as reported by the driver under the names in the
/// comments.
struct DeviceLimits {
  int compute_major = 0;
  int compute_minor = 0;
  int multiprocessors = 0;
  int threads_per_sm = 0;                 ///< MAX_THREADS_PER_MULTIPROCESSOR
  int blocks_per_sm = 0;                  ///< MAX_BLOCKS_PER_MULTIPROCESSOR
  int registers_per_sm = 0;               ///< MAX_REGISTERS_PER_MULTIPROCESSOR
  int registers_per_block = 0;            ///< MAX_REGISTERS_PER_BLOCK
  int threads_per_block = 0;              ///< MAX_THREADS_PER_BLOCK
  std::int64_t smem_per_sm_bytes = 0;     ///< MAX_SHARED_MEMORY_PER_MULTIPROCESSOR
  std::int64_t smem_per_block_bytes = 0;  ///< MAX_SHARED_MEMORY_PER_BLOCK_OPTIN
  std::int64_t reserved_smem_bytes = 0;   ///< RESERVED_SHARED_MEMORY_PER_BLOCK
};

/// Resources that one block of a kernel needs.
struct BlockNeeds {
  int threads = 0;
  int registers_per_thread = 0;
  std::int64_t static_smem_bytes = 0;
  std::int64_t dynamic_smem_bytes = 0;
};

struct Occupancy {
  int blocks_per_sm = 0;  ///< 0: the kernel cannot be launched
  int active_warps_per_sm = 0;
  double fraction = 0;  ///< active warps / warps that the SM can hold
  /// the binding limit: "threads", "blocks", "registers", "shared memory"
  std::string_view limit;
  double waves = 0;  ///< blocks of the grid / blocks that run at once; not rounded
  /// filled share of the last wave; 1 if the grid is a whole number of waves
  double tail_fraction = 0;
};

/// Resident blocks per multiprocessor. Rules: registers are allocated by warp, in units of 256, to
/// the four partitions of the SM; shared memory in units of 128 bytes after the driver's own share
/// (NVIDIA, cuda_occupancy.h, for compute capability 7.0 and newer). `blocks`: of the whole grid.
[[nodiscard]] Occupancy occupancy(const DeviceLimits& device,
                                  const BlockNeeds& block,
                                  std::int64_t blocks);

/// One line naming the number and limit that prevent a launch with these numbers on this device;
/// empty if it is possible. Checked before every launch: a refused launch must not look like a fast
/// one.
[[nodiscard]] std::string limits_problem(const DeviceLimits& device,
                                         const BlockNeeds& block,
                                         const LaunchNumbers& launch);

}  // namespace warpath::cuda
