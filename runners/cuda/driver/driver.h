#pragma once

#include <cuda.h>

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace warpath::cuda {

// clang-format off
#define WARPATH_CUDA_DRIVER(X) \
  X(cuInit) X(cuDriverGetVersion) X(cuGetErrorName) X(cuGetErrorString) \
  X(cuDeviceGet) X(cuDeviceGetCount) X(cuDeviceGetName) X(cuDeviceGetAttribute) X(cuDeviceTotalMem) X(cuDeviceGetUuid) \
  X(cuDeviceGetPCIBusId) \
  X(cuDevicePrimaryCtxRetain) X(cuDevicePrimaryCtxRelease) X(cuCtxSetCurrent) X(cuCtxSynchronize) X(cuCtxSetLimit) \
  X(cuCtxGetLimit) X(cuCtxResetPersistingL2Cache) \
  X(cuModuleLoadData) X(cuModuleUnload) X(cuModuleGetFunction) X(cuModuleGetFunctionCount) X(cuModuleGetGlobal) \
  X(cuFuncGetAttribute) X(cuFuncSetAttribute) X(cuFuncGetParamInfo) X(cuLaunchKernel) X(cuLaunchKernelEx) \
  X(cuOccupancyMaxActiveBlocksPerMultiprocessor) X(cuOccupancyMaxActiveClusters) \
  X(cuStreamCreate) X(cuStreamDestroy) X(cuStreamSynchronize) X(cuStreamQuery) X(cuStreamWaitEvent) \
  X(cuStreamBeginCapture) X(cuStreamEndCapture) \
  X(cuEventCreate) X(cuEventDestroy) X(cuEventRecord) X(cuEventSynchronize) X(cuEventQuery) X(cuEventElapsedTime) \
  X(cuGraphDestroy) X(cuGraphInstantiate) X(cuGraphExecDestroy) X(cuGraphLaunch) \
  X(cuMemAlloc) X(cuMemFree) X(cuMemAllocHost) X(cuMemFreeHost) X(cuMemGetInfo) \
  X(cuMemcpyHtoD) X(cuMemcpyDtoH) X(cuMemcpyDtoD) X(cuMemcpyHtoDAsync) X(cuMemcpyDtoHAsync) X(cuMemcpyDtoDAsync) \
  X(cuMemsetD8) X(cuMemsetD32) X(cuMemsetD8Async) X(cuMemsetD32Async) \
  X(cuMemGetAllocationGranularity) X(cuMemAddressReserve) X(cuMemAddressFree) X(cuMemCreate) X(cuMemRelease) X(cuMemMap) \
  X(cuMemUnmap) X(cuMemSetAccess)
// clang-format on

/// The driver functions used; plain data, so that tests can fill it with fakes. The header's
/// renames (cuMemFree to cuMemFree_v2) apply to both member and symbol, since macro arguments are
/// expanded.
struct DriverApi {
// NOLINTNEXTLINE(bugprone-macro-parentheses)
#define WARPATH_X(function) decltype(&::function) function = nullptr;
  WARPATH_CUDA_DRIVER(WARPATH_X)
#undef WARPATH_X
};

/// Opens `library` for the life of the process. nullopt, with one line in `why`, if it is missing
/// or lacks a function: having no GPU is a normal state.
[[nodiscard]] std::optional<DriverApi> load_driver(std::string& why,
                                                   const char* library = "libcuda.so.1");

/// "CUDA_ERROR_ILLEGAL_ADDRESS: an illegal memory access was encountered"; the number if the driver
/// does not know the error.
[[nodiscard]] std::string error_text(const DriverApi& api, CUresult result);
/// Throws Error(environment) "WHAT: error" unless `result` is success. Not for launches of
/// candidates, whose failure is an outcome.
void require(const DriverApi& api, CUresult result, const char* what);

/// Number of failed releases since the program started, which destructors cannot report. In a
/// faulted context every release fails.
[[nodiscard]] std::uint64_t failed_releases() noexcept;
void note_release(CUresult result) noexcept;
/// Disables releases from now on: a faulted context refuses them, and one with a hanging kernel
/// blocks. For a process that is about to exit.
void abandon_releases() noexcept;
[[nodiscard]] bool releases_abandoned() noexcept;

/// Owns one handle, freed by the table's function `Release`; the context that made it must then be
/// current.
template <class Handle, auto Release>
class Unique {  // NOLINT(cppcoreguidelines-special-member-functions): assigned by value
 public:
  Unique() noexcept = default;
  Unique(const DriverApi& api, Handle handle) noexcept : api_(&api), handle_(handle) {}
  Unique(const Unique&) = delete;
  Unique(Unique&& other) noexcept
      : api_(other.api_), handle_(std::exchange(other.handle_, Handle{})) {}
  Unique& operator=(Unique other) noexcept {
    std::swap(api_, other.api_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Unique() {
    if (handle_ != Handle{} && !releases_abandoned()) note_release((api_->*Release)(handle_));
  }
  [[nodiscard]] Handle get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != Handle{}; }

 private:
  const DriverApi* api_ = nullptr;
  Handle handle_{};
};

using Module = Unique<CUmodule, &DriverApi::cuModuleUnload>;
using Stream = Unique<CUstream, &DriverApi::cuStreamDestroy>;
using Event = Unique<CUevent, &DriverApi::cuEventDestroy>;
using Graph = Unique<CUgraph, &DriverApi::cuGraphDestroy>;
using GraphExec = Unique<CUgraphExec, &DriverApi::cuGraphExecDestroy>;
using DeviceMemory = Unique<CUdeviceptr, &DriverApi::cuMemFree>;

// Each throws Error(environment) if the driver refuses.
[[nodiscard]] Stream make_stream(const DriverApi& api);
[[nodiscard]] Event make_event(const DriverApi& api, bool timed = true);
[[nodiscard]] DeviceMemory allocate(const DriverApi& api, std::size_t bytes);

}  // namespace warpath::cuda
