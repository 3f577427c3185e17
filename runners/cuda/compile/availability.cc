#include "runners/cuda/compile/availability.h"

#include <dlfcn.h>

#include <exception>

#include "engine/base/format.h"
#include "runners/cuda/compile/nvrtc.h"
#include "runners/cuda/compile/nvrtc_places.h"

namespace warpath::cuda {
namespace {

// Names and numbers of the driver's stable binary interface: this file is built where its header is
// missing, too.
constexpr int kMultiprocessorCount = 16;
constexpr int kComputeMajor = 75;
constexpr int kComputeMinor = 76;

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(::dlsym(library, name));
}

void probe_devices(void* driver, Platform& platform) {
  auto* const init = symbol<int(unsigned)>(driver, "cuInit");
  auto* const version = symbol<int(int*)>(driver, "cuDriverGetVersion");
  auto* const count_of = symbol<int(int*)>(driver, "cuDeviceGetCount");
  auto* const name_of = symbol<int(char*, int, int)>(driver, "cuDeviceGetName");
  auto* const attribute = symbol<int(int*, int, int)>(driver, "cuDeviceGetAttribute");
  auto* const memory = symbol<int(std::size_t*, int)>(driver, "cuDeviceTotalMem_v2");
  auto* uuid_of = symbol<int(char*, int)>(driver, "cuDeviceGetUuid_v2");
  if (uuid_of == nullptr) uuid_of = symbol<int(char*, int)>(driver, "cuDeviceGetUuid");
  if (init == nullptr || version == nullptr || count_of == nullptr || name_of == nullptr ||
      attribute == nullptr || memory == nullptr || version(&platform.driver_version) != 0) {
    platform.driver_problem = "libcuda.so.1 is no CUDA driver that this program knows";
    platform.device_problem = "no driver to ask for devices";
    return;
  }
  int count = 0;
  const int result = init(0);
  if (result != 0 || count_of(&count) != 0 || count == 0) {
    platform.device_problem =
        "the driver finds no GPU (cuInit answers " + std::to_string(result) + ")";
    return;
  }
  for (int i = 0; i < count; ++i) {
    DeviceSummary device;
    device.index = i;
    char name[256] = "";
    std::size_t bytes = 0;
    char uuid[16] = {};
    if (uuid_of != nullptr && uuid_of(uuid, i) == 0) device.uuid = hex_text({uuid, sizeof uuid});
    if (name_of(name, sizeof name, i) == 0) device.name = name;
    if (memory(&bytes, i) == 0) device.memory_bytes = bytes;
    static_cast<void>(attribute(&device.multiprocessors, kMultiprocessorCount, i));
    static_cast<void>(attribute(&device.compute_major, kComputeMajor, i));
    static_cast<void>(attribute(&device.compute_minor, kComputeMinor, i));
    platform.devices.push_back(std::move(device));
  }
}

Platform probe() {
  Platform platform;
  if (void* const driver = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL); driver != nullptr) {
    probe_devices(driver, platform);
  } else {
    platform.driver_problem = "no NVIDIA driver (libcuda.so.1 is not on this machine)";
    platform.device_problem = "no driver to ask for devices";
  }
  if (const auto nvrtc = open_nvrtc(platform.nvrtc_problem)) {
    platform.nvrtc_problem.clear();
    platform.nvrtc_version = nvrtc->version();
    platform.nvrtc_path = nvrtc->path();
  }
  return platform;
}

}  // namespace

Platform probe_platform() noexcept {
  try {
    return probe();
    // out of memory, or a file system that fails: nothing that could be used
  } catch (const std::exception&) {
    Platform platform;
    platform.driver_problem = platform.device_problem = platform.nvrtc_problem = "cannot be probed";
    return platform;
  }
}

bool cuda_available(std::string& why) noexcept {
  Platform platform = probe_platform();
  for (std::string* const problem :
       {&platform.driver_problem, &platform.device_problem, &platform.nvrtc_problem}) {
    if (problem->empty()) continue;
    why = std::move(*problem);
    return false;
  }
  return true;
}

}  // namespace warpath::cuda
