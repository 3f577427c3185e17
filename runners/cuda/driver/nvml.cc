#include "runners/cuda/driver/nvml.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>

namespace warpath::cuda {
namespace {

constexpr int kSuccess = 0;
constexpr int kClockSm = 1;         // NVML_CLOCK_SM
constexpr int kClockMemory = 2;     // NVML_CLOCK_MEM
constexpr int kTemperatureGpu = 0;  // NVML_TEMPERATURE_GPU

/// The bits of nvmlClocksThrottleReason* that slow a kernel down: power cap, slow-down, boost
/// shared with another GPU, heat (software, hardware), power brake. The others: idle, clocks that
/// were set.
constexpr std::uint64_t kThrottling = 0b1111'1100;

template <class Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

}  // namespace

bool throttled(const DeviceState& state) {
  return (state.throttle_bits.value_or(0) & kThrottling) != 0;
}

std::optional<std::vector<long>> foreign_to(const std::vector<long>& processes,
                                            long self,
                                            long engine,
                                            const std::function<long(long)>& parent_of) {
  if (std::ranges::find(processes, self) == processes.end()) return std::nullopt;
  std::vector<long> out;
  for (const long process : processes) {
    long ancestor = process;
    constexpr int kMostGenerations = 64;
    for (int i = 0; i < kMostGenerations && ancestor != engine && ancestor > 1; ++i)
      ancestor = parent_of(ancestor);
    if (ancestor != engine && process != self) out.push_back(process);
  }
  return out;
}

long parent_process(long pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return 0;
  // "4711 (name, of any characters) S 4710 ..."
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos || name_end + 4 > line.size()) return 0;
  return std::strtol(line.c_str() + name_end + 4, nullptr, 10);
}

std::optional<Nvml> Nvml::open(const std::string& pci_bus_id,
                               std::string& why,
                               const char* library) {
  void* const handle = ::dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    why = ::dlerror();
    return std::nullopt;
  }
  NvmlApi api;
  const bool complete =
      find(handle, "nvmlInit_v2", api.init) &&
      find(handle, "nvmlDeviceGetHandleByPciBusId_v2", api.device_by_pci_bus_id) &&
      find(handle, "nvmlDeviceGetClockInfo", api.clock) &&
      find(handle, "nvmlDeviceGetPowerUsage", api.power) &&
      find(handle, "nvmlDeviceGetTemperature", api.temperature) &&
      find(handle, "nvmlErrorString", api.error_string) &&
      (find(handle, "nvmlDeviceGetCurrentClocksThrottleReasons", api.throttle_bits) ||
       find(handle, "nvmlDeviceGetCurrentClocksEventReasons", api.throttle_bits));
  static_cast<void>(find(handle, "nvmlDeviceGetComputeRunningProcesses_v3", api.compute_processes));
  if (!complete) {
    why = std::string(library) + ": is no management library that this program knows";
    return std::nullopt;
  }
  return with(api, pci_bus_id, why);
}

std::optional<Nvml> Nvml::with(const NvmlApi& api,
                               const std::string& pci_bus_id,
                               std::string& why) {
  const auto refused = [&](const char* what, int result) {
    const char* const text = api.error_string(result);
    why = std::string(what) + ": " + (text == nullptr ? "error" : text) + " (" +
          std::to_string(result) + ")";
    return std::nullopt;
  };
  if (const int result = api.init(); result != kSuccess)
    return refused("the management library does not start", result);
  NvmlApi::Device device = nullptr;
  if (const int result = api.device_by_pci_bus_id(pci_bus_id.c_str(), &device);
      result != kSuccess) {
    return refused(("the management library does not know GPU " + pci_bus_id).c_str(), result);
  }
  return Nvml(api, device);
}

std::optional<std::vector<long>> Nvml::compute_processes() const {
  constexpr unsigned kMost = 256;
  std::vector<NvmlApi::Process> found(kMost);
  unsigned count = kMost;
  if (api_.compute_processes == nullptr ||
      api_.compute_processes(device_, &count, found.data()) != kSuccess)
    return std::nullopt;
  std::vector<long> out;
  for (unsigned i = 0; i < std::min(count, kMost); ++i) out.push_back(found[i].pid);
  return out;
}

DeviceState Nvml::read() const {
  constexpr double kMilli = 1e-3;
  DeviceState state;
  unsigned value = 0;
  if (api_.clock(device_, kClockSm, &value) == kSuccess)
    state.sm_clock_mhz = static_cast<int>(value);
  if (api_.clock(device_, kClockMemory, &value) == kSuccess)
    state.memory_clock_mhz = static_cast<int>(value);
  if (api_.power(device_, &value) == kSuccess) state.power_watts = value * kMilli;
  if (api_.temperature(device_, kTemperatureGpu, &value) == kSuccess)
    state.temperature_celsius = static_cast<int>(value);
  unsigned long long bits = 0;
  if (api_.throttle_bits(device_, &bits) == kSuccess) state.throttle_bits = bits;
  return state;
}

}  // namespace warpath::cuda
