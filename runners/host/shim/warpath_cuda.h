#pragma once

/// CUDA C++ for the system compiler: everything a kernel may name that the host runner supports.

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <limits>
#include <type_traits>

#include "warpath_abi.h"
#include "warpath_vector.h"
#include "warpath_math.h"
#include "warpath_half.h"
#include "warpath_atomic.h"
#include "warpath_warp.h"
#include "warpath_entry.h"
#include "warpath_interleave.h"

#define __global__
#define __device__
#define __host__
#define __constant__
#define __grid_constant__
#define __shared__ thread_local
#define __forceinline__ inline __attribute__((always_inline))
#define __inline__ inline
#define __noinline__ __attribute__((noinline))
#define __align__(n) __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __nv_pure__ __attribute__((pure))
#define __builtin_assume(...) static_cast<void>(0)
#define __CUDACC__ 1
#define __CUDA_ARCH__ 900
#define __WARPATH_HOST__ 1

#define threadIdx (warpath_thread.thread_index)
#define blockIdx (warpath_thread.block_index)
#define blockDim (warpath_thread.block_dim)
#define gridDim (warpath_thread.grid_dim)
#define warpSize 32

#define CUDART_INF_F (__builtin_inff())
#define CUDART_NAN_F (__builtin_nanf(""))
#define CUDART_INF (__builtin_inf())
#define CUDART_NAN (__builtin_nan(""))
#define CUDART_MIN_DENORM_F 1.4e-45f
#define CUDART_MAX_NORMAL_F 3.402823466e+38f
#define CUDART_NEG_ZERO_F (-0.0f)
#define CUDART_ZERO_F 0.0f
#define CUDART_ONE_F 1.0f
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_SQRT_TWO_F 1.414213562f
#define CUDART_THIRD_F 0.333333333f
#define CUDART_PIO4_F 0.785398163f
#define CUDART_PIO2_F 1.570796327f
#define CUDART_2_OVER_PI_F 0.636619772f
#define CUDART_SQRT_2OVERPI_F 0.797884561f
#define CUDART_L2E_F 1.442695041f
#define CUDART_L2T_F 3.321928094f
#define CUDART_LG2_F 0.301029996f
#define CUDART_LGE_F 0.434294482f
#define CUDART_LN2_F 0.693147181f
#define CUDART_LNT_F 2.302585093f
#define CUDART_PIO2 1.5707963267948966
#define CUDART_SQRT_HALF 7.0710678118654757e-1
#define CUDART_SQRT_TWO 1.4142135623730951
#define CUDART_L2E 1.4426950408889634
#define CUDART_LN2 6.9314718055994529e-1
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931

#undef assert
#define assert(...) (static_cast<bool>(__VA_ARGS__) ? static_cast<void>(0) : warpath_fault(kWarpathFaultAssert, #__VA_ARGS__, __LINE__))
#define __trap() warpath_fault(kWarpathFaultTrap, "__trap()", __LINE__)

/// Output of kernels is discarded; arguments are evaluated.
template <class... T>
static inline int printf(const char*, const T&...) { return 0; }

// A name put together by the preprocessor does not get past the lexical gate.
#define asm warpath_refuses_inline_assembly
#define __asm warpath_refuses_inline_assembly
#define __asm__ warpath_refuses_inline_assembly
