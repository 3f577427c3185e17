#pragma once

#include "runners/cuda/driver/occupancy.h"

namespace cuda_test {

// As the driver reports them: A100, RTX 3090, H200.
inline const warpath::cuda::DeviceLimits kSm80{.compute_major = 8,
                                               .compute_minor = 0,
                                               .multiprocessors = 108,
                                               .threads_per_sm = 2048,
                                               .blocks_per_sm = 32,
                                               .registers_per_sm = 65536,
                                               .registers_per_block = 65536,
                                               .threads_per_block = 1024,
                                               .smem_per_sm_bytes = 167936,
                                               .smem_per_block_bytes = 166912,
                                               .reserved_smem_bytes = 1024};
inline const warpath::cuda::DeviceLimits kSm86{.compute_major = 8,
                                               .compute_minor = 6,
                                               .multiprocessors = 82,
                                               .threads_per_sm = 1536,
                                               .blocks_per_sm = 16,
                                               .registers_per_sm = 65536,
                                               .registers_per_block = 65536,
                                               .threads_per_block = 1024,
                                               .smem_per_sm_bytes = 102400,
                                               .smem_per_block_bytes = 101376,
                                               .reserved_smem_bytes = 1024};
inline const warpath::cuda::DeviceLimits kSm90{.compute_major = 9,
                                               .compute_minor = 0,
                                               .multiprocessors = 132,
                                               .threads_per_sm = 2048,
                                               .blocks_per_sm = 32,
                                               .registers_per_sm = 65536,
                                               .registers_per_block = 65536,
                                               .threads_per_block = 1024,
                                               .smem_per_sm_bytes = 233472,
                                               .smem_per_block_bytes = 232448,
                                               .reserved_smem_bytes = 1024};

}  // namespace cuda_test
