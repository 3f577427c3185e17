#pragma once

/// CUDA C++ for the system compiler: everything a kernel may name that the host runner supports.

// The special functions of C++17 (std::beta and the like) are two fifths of what the compiler would
// read for a kernel, and none of CUDA's.
#if __has_include(<bits/c++config.h>)
#include <bits/c++config.h>
#undef _GLIBCXX_USE_STD_SPEC_FUNCS
#endif

#include <float.h>
#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

#include <cstring>
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
#include "math_constants.h"

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

#define threadIdx (uint3{warpath_thread.thread_index.x, warpath_thread.thread_index.y, warpath_thread.thread_index.z})
#define blockIdx (uint3{warpath_thread.block_index.x, warpath_thread.block_index.y, warpath_thread.block_index.z})
#define blockDim (dim3{warpath_thread.block_dim.x, warpath_thread.block_dim.y, warpath_thread.block_dim.z})
#define gridDim (dim3{warpath_thread.grid_dim.x, warpath_thread.grid_dim.y, warpath_thread.grid_dim.z})
#define warpSize 32

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
