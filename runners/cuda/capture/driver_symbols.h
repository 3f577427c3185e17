#pragma once

// The CUDA driver as the library that stands in front of it sees it: every name is a symbol, so
// that cuMemAlloc_v2 and cuLaunchKernel_ptsz are declared. No other file includes cuda.h first.

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>

namespace warpath::capture {

// clang-format off
/// Functions that applications reach through this library. Each has had one signature since CUDA
/// 3.2, under one name: with "_v2" where that is its symbol, and "_ptsz" for its form with a
/// default stream a thread.
#define WARPATH_HOOKED(X) \
  X(cuGetProcAddress) X(cuGetProcAddress_v2) \
  X(cuModuleLoad) X(cuModuleLoadData) X(cuModuleLoadDataEx) X(cuModuleLoadFatBinary) X(cuModuleUnload) \
  X(cuModuleGetFunction) X(cuModuleEnumerateFunctions) \
  X(cuLibraryLoadData) X(cuLibraryLoadFromFile) X(cuLibraryUnload) X(cuLibraryGetKernel) X(cuLibraryGetModule) \
  X(cuLibraryEnumerateKernels) X(cuKernelGetFunction) \
  X(cuMemAlloc_v2) X(cuMemAllocPitch_v2) X(cuMemAllocManaged) X(cuMemAllocHost_v2) X(cuMemHostAlloc) \
  X(cuMemAllocAsync) X(cuMemAllocAsync_ptsz) X(cuMemAllocFromPoolAsync) X(cuMemAllocFromPoolAsync_ptsz) \
  X(cuMemFree_v2) X(cuMemFreeHost) X(cuMemFreeAsync) X(cuMemFreeAsync_ptsz) X(cuMemMap) X(cuMemUnmap) \
  X(cuStreamSynchronize) X(cuStreamSynchronize_ptsz) X(cuGraphLaunch) X(cuGraphLaunch_ptsz) \
  X(cuLaunchKernel) X(cuLaunchKernel_ptsz) X(cuLaunchKernelEx) X(cuLaunchKernelEx_ptsz) \
  X(cuLaunchCooperativeKernel) X(cuLaunchCooperativeKernel_ptsz)
/// Functions that the recorder calls. Any may be missing from an older driver.
#define WARPATH_CALLED(X) \
  X(cuDriverGetVersion) X(cuCtxGetDevice) X(cuDeviceGetName) \
  X(cuFuncGetName) X(cuFuncGetParamInfo) X(cuKernelGetName) X(cuKernelGetParamInfo) \
  X(cuEventCreate) X(cuEventRecord) X(cuEventRecord_ptsz) X(cuEventQuery) X(cuEventElapsedTime) X(cuEventDestroy_v2) \
  X(cuStreamIsCapturing) X(cuStreamIsCapturing_ptsz) X(cuThreadExchangeStreamCaptureMode) X(cuMemcpyDtoH_v2)
// clang-format on

/// One of these functions.
enum class Symbol : int {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define WARPATH_X(function) function,
  WARPATH_HOOKED(WARPATH_X) WARPATH_CALLED(WARPATH_X)
#undef WARPATH_X
};

/// The driver's function; null if there is no driver in this process, or it lacks the function.
/// Thread-safe.
[[nodiscard]] void* driver_address(Symbol symbol) noexcept;

}  // namespace warpath::capture

/// The same with its type.
#define WARPATH_DRIVER(function)           \
  reinterpret_cast<decltype(&::function)>( \
      ::warpath::capture::driver_address(::warpath::capture::Symbol::function))
