#include "runners/cuda/driver/driver.h"

#include <dlfcn.h>

#include "engine/base/error.h"

namespace warpath::cuda {
namespace {

std::atomic<std::uint64_t> failed_release_count{0};  // destructors have nowhere else to report to
std::atomic<bool> abandoned{false};                  // nor can they be told

}  // namespace

#define WARPATH_STRING2(x) #x
#define WARPATH_STRING(x) WARPATH_STRING2(x)

std::optional<DriverApi> load_driver(std::string& why, const char* library) {
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why = ::dlerror();
    return std::nullopt;
  }
  DriverApi api;
#define WARPATH_X(function)                                                                   \
  api.function =                                                                              \
      reinterpret_cast<decltype(api.function)>(::dlsym(handle, WARPATH_STRING(function)));    \
  if (api.function == nullptr) {                                                              \
    why = std::string(library) +                                                              \
          " lacks " WARPATH_STRING(function) ": a newer NVIDIA driver is needed (CUDA 12.4)"; \
    return std::nullopt;                                                                      \
  }
  WARPATH_CUDA_DRIVER(WARPATH_X)
#undef WARPATH_X
  return api;
}

std::string error_text(const DriverApi& api, CUresult result) {
  const char* name = nullptr;
  const char* meaning = nullptr;
  if (api.cuGetErrorName(result, &name) != CUDA_SUCCESS || name == nullptr)
    return "CUDA error " + std::to_string(result);
  if (api.cuGetErrorString(result, &meaning) != CUDA_SUCCESS || meaning == nullptr) return name;
  return std::string(name) + ": " + meaning;
}

void require(const DriverApi& api, CUresult result, const char* what) {
  if (result != CUDA_SUCCESS)
    throw environment_error(std::string(what) + ": " + error_text(api, result));
}

std::uint64_t failed_releases() noexcept {
  return failed_release_count.load();
}

void abandon_releases() noexcept {
  abandoned = true;
}

bool releases_abandoned() noexcept {
  return abandoned;
}

void note_release(CUresult result) noexcept {
  if (result != CUDA_SUCCESS) ++failed_release_count;
}

Stream make_stream(const DriverApi& api) {
  CUstream stream = nullptr;
  require(api, api.cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), "cannot make a stream");
  return {api, stream};
}

Event make_event(const DriverApi& api, bool timed) {
  CUevent event = nullptr;
  require(api, api.cuEventCreate(&event, timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING),
          "cannot make an event");
  return {api, event};
}

DeviceMemory allocate(const DriverApi& api, std::size_t bytes) {
  CUdeviceptr address = 0;
  require(api, api.cuMemAlloc(&address, bytes), "cannot allocate device memory");
  return {api, address};
}

}  // namespace warpath::cuda
