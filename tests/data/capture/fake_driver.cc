// A driver without a device, for tests/experiments/capture.cc: libcuda.so.1 as far as the applications beside it use it. A
// launch takes one microsecond a block by its events; memory is the host's. Built with the driver's own view of its header,
// so that it has the symbols of a driver.

#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#define FAKE extern "C" __attribute__((visibility("default"))) CUresult

struct CUfunc_st {
  std::string name;
};
struct CUevent_st {
  double ms = 0;
};

namespace {

std::mutex mutex;
std::atomic<double> clock_ms{0};  // of the device
std::map<std::string, CUfunc_st> functions;

/// Sizes of the parameters of the kernels that the applications launch.
std::vector<std::size_t> parameters_of(std::string_view name) {
  if (name == "_Z5scalePfPKfif") return {8, 8, 4, 4};
  if (name == "_Z6gatherIfEvPT_PKS0_PKii") return {8, 8, 8, 4};
  if (name == "plain") return {8, 4};
  return {};
}

CUresult info(const CUfunc_st& f, std::size_t i, std::size_t* offset, std::size_t* size) {
  const std::vector<std::size_t> sizes = parameters_of(f.name);
  if (i >= sizes.size()) return CUDA_ERROR_INVALID_VALUE;
  *offset = 0;
  for (std::size_t k = 0; k <= i; ++k) {
    *offset = (*offset + sizes[k] - 1) / sizes[k] * sizes[k];
    if (k < i) *offset += sizes[k];
  }
  *size = sizes[i];
  return CUDA_SUCCESS;
}

CUresult launch(unsigned x, unsigned y, unsigned z, unsigned threads) {
  if (threads == 0 || threads > 1024) return CUDA_ERROR_INVALID_VALUE;
  clock_ms = clock_ms + 0.001 * x * y * z;
  return CUDA_SUCCESS;
}

CUfunc_st* function(const char* name) {
  const std::lock_guard lock(mutex);
  return &functions.try_emplace(name, CUfunc_st{name}).first->second;
}

}  // namespace

FAKE cuInit(unsigned) { return CUDA_SUCCESS; }
FAKE cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }
FAKE cuCtxGetDevice(CUdevice* device) { return *device = 0, CUDA_SUCCESS; }
FAKE cuDeviceGetName(char* name, int bytes, CUdevice) {
  return std::strncpy(name, "Fake GPU", static_cast<std::size_t>(bytes)), CUDA_SUCCESS;
}
FAKE cuModuleLoadData(CUmodule* module, const void*) {
  static std::atomic<std::uintptr_t> next{16};
  *module = reinterpret_cast<CUmodule>(next += 16);
  return CUDA_SUCCESS;
}
FAKE cuModuleGetFunction(CUfunction* f, CUmodule, const char* name) {
  return *f = function(name), CUDA_SUCCESS;
}
FAKE cuLibraryLoadData(CUlibrary* library, const void* image, CUjit_option*, void**, unsigned, CUlibraryOption*, void**, unsigned) {
  return cuModuleLoadData(reinterpret_cast<CUmodule*>(library), image);
}
FAKE cuLibraryGetKernel(CUkernel* kernel, CUlibrary, const char* name) {
  return *kernel = reinterpret_cast<CUkernel>(function(name)), CUDA_SUCCESS;
}
FAKE cuFuncGetName(const char** name, CUfunction f) { return *name = f->name.c_str(), CUDA_SUCCESS; }
FAKE cuFuncGetParamInfo(CUfunction f, size_t i, size_t* offset, size_t* size) {
  return info(*f, i, offset, size);
}
FAKE cuKernelGetParamInfo(CUkernel kernel, size_t i, size_t* offset, size_t* size) {
  return info(*reinterpret_cast<CUfunction>(kernel), i, offset, size);
}
FAKE cuMemAlloc_v2(CUdeviceptr* out, size_t bytes) {
  *out = reinterpret_cast<CUdeviceptr>(std::calloc(1, bytes));
  return CUDA_SUCCESS;
}
FAKE cuMemFree_v2(CUdeviceptr address) {
  return std::free(reinterpret_cast<void*>(address)), CUDA_SUCCESS;
}
FAKE cuMemcpyHtoD_v2(CUdeviceptr to, const void* from, size_t bytes) {
  return std::memcpy(reinterpret_cast<void*>(to), from, bytes), CUDA_SUCCESS;
}
FAKE cuMemcpyDtoH_v2(void* to, CUdeviceptr from, size_t bytes) {
  return std::memcpy(to, reinterpret_cast<void*>(from), bytes), CUDA_SUCCESS;
}
FAKE cuEventCreate(CUevent* event, unsigned) { return *event = new CUevent_st, CUDA_SUCCESS; }
FAKE cuEventRecord(CUevent event, CUstream) { return event->ms = clock_ms, CUDA_SUCCESS; }
FAKE cuEventQuery(CUevent) { return CUDA_SUCCESS; }
FAKE cuEventElapsedTime(float* ms, CUevent begin, CUevent end) {
  return *ms = static_cast<float>(end->ms - begin->ms), CUDA_SUCCESS;
}
FAKE cuEventDestroy_v2(CUevent event) { return delete event, CUDA_SUCCESS; }
FAKE cuStreamIsCapturing(CUstream, CUstreamCaptureStatus* status) {
  return *status = CU_STREAM_CAPTURE_STATUS_NONE, CUDA_SUCCESS;
}
FAKE cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode* mode) {
  thread_local CUstreamCaptureMode now = CU_STREAM_CAPTURE_MODE_GLOBAL;
  return std::swap(*mode, now), CUDA_SUCCESS;
}
FAKE cuStreamSynchronize(CUstream) { return CUDA_SUCCESS; }
FAKE cuGraphLaunch(CUgraphExec, CUstream) { return CUDA_SUCCESS; }
FAKE cuLaunchKernel(CUfunction, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned, CUstream, void**, void**) {
  return launch(gx, gy, gz, bx * by * bz);
}
FAKE cuLaunchKernel_ptsz(CUfunction f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned smem, CUstream s, void** p, void** extra) {
  return cuLaunchKernel(f, gx, gy, gz, bx, by, bz, smem, s, p, extra);
}
FAKE cuLaunchKernelEx(const CUlaunchConfig* c, CUfunction, void**, void**) {
  return launch(c->gridDimX, c->gridDimY, c->gridDimZ, c->blockDimX * c->blockDimY * c->blockDimZ);
}
FAKE cuGetProcAddress_v2(const char* name, void** out, int, cuuint64_t flags, CUdriverProcAddressQueryResult* status) {
  Dl_info caller{};
  if (std::getenv("WARPATH_FAKE_TRACE") != nullptr && ::dladdr(__builtin_return_address(0), &caller) != 0) {
    const std::string_view file = caller.dli_fname;
    std::fprintf(stderr, "asked for %s by %s\n", name, file.substr(file.rfind('/') + 1).data());
  }
  const std::string_view wanted = name;
  const bool of_thread = flags == CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
  *out = nullptr;
  if (wanted == "cuGetProcAddress") *out = reinterpret_cast<void*>(&cuGetProcAddress_v2);
  if (wanted == "cuInit") *out = reinterpret_cast<void*>(&cuInit);
  if (wanted == "cuModuleLoadData") *out = reinterpret_cast<void*>(&cuModuleLoadData);
  if (wanted == "cuModuleGetFunction") *out = reinterpret_cast<void*>(&cuModuleGetFunction);
  if (wanted == "cuLibraryLoadData") *out = reinterpret_cast<void*>(&cuLibraryLoadData);
  if (wanted == "cuLibraryGetKernel") *out = reinterpret_cast<void*>(&cuLibraryGetKernel);
  if (wanted == "cuMemAlloc") *out = reinterpret_cast<void*>(&cuMemAlloc_v2);
  if (wanted == "cuMemFree") *out = reinterpret_cast<void*>(&cuMemFree_v2);
  if (wanted == "cuMemcpyHtoD") *out = reinterpret_cast<void*>(&cuMemcpyHtoD_v2);
  if (wanted == "cuLaunchKernelEx") *out = reinterpret_cast<void*>(&cuLaunchKernelEx);
  if (wanted == "cuLaunchKernel")
    *out = of_thread ? reinterpret_cast<void*>(&cuLaunchKernel_ptsz) : reinterpret_cast<void*>(&cuLaunchKernel);
  if (wanted == "cuGraphLaunch") *out = reinterpret_cast<void*>(&cuGraphLaunch);
  if (status != nullptr) *status = *out == nullptr ? CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND : CU_GET_PROC_ADDRESS_SUCCESS;
  return *out == nullptr ? CUDA_ERROR_NOT_FOUND : CUDA_SUCCESS;
}
