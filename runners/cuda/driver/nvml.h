#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace warpath::cuda {

/// State of a GPU at one moment. Values that NVML does not report are absent.
struct DeviceState {
  std::optional<int> sm_clock_mhz;
  std::optional<int> memory_clock_mhz;
  std::optional<double> power_watts;
  std::optional<int> temperature_celsius;
  std::optional<std::uint64_t> throttle_bits;  ///< nvmlClocksThrottleReason*
  bool operator==(const DeviceState&) const = default;
};

/// Whether clocks in `state` are held down by heat, power or a fault. Idle clocks and clocks that
/// an administrator has set are not throttling. False where the bits are absent.
[[nodiscard]] bool throttled(const DeviceState& state);

/// The NVML functions used; all only read. NVML's header is not part of every toolkit, so its few
/// stable types are declared here (NVML API reference, CUDA 13.0): results and enumerations are
/// int, 0 is success; a device is a pointer.
struct NvmlApi {
  using Device = struct nvmlDevice_st*;
  int (*init)() = nullptr;  ///< nvmlInit_v2
  int (*device_by_pci_bus_id)(const char*,
                              Device*) = nullptr;            ///< nvmlDeviceGetHandleByPciBusId_v2
  int (*clock)(Device, int which, unsigned* mhz) = nullptr;  ///< nvmlDeviceGetClockInfo
  int (*power)(Device, unsigned* milliwatts) = nullptr;      ///< nvmlDeviceGetPowerUsage
  int (*temperature)(Device, int which, unsigned* celsius) = nullptr;  ///< nvmlDeviceGetTemperature
  int (*throttle_bits)(Device, unsigned long long* bits) =
      nullptr;                                 ///< nvmlDeviceGetCurrentClocksThrottleReasons
  const char* (*error_string)(int) = nullptr;  ///< nvmlErrorString
  struct Process {                             ///< nvmlProcessInfo_v2_t
    unsigned pid;
    unsigned long long memory_bytes;
    unsigned gpu_instance, compute_instance;
  };
  /// nvmlDeviceGetComputeRunningProcesses_v3: `count` is the capacity of `processes` on entry and
  /// the number of processes on return. Null in old libraries.
  int (*compute_processes)(Device, unsigned* count, Process* processes) = nullptr;
};

/// The members of `processes` that are neither `engine` nor descend from it. nullopt if `self`, a
/// process of the engine with a context, is not among them: then the ids belong to another PID
/// namespace and are useless. `parent_of` returns 0 if there is no parent.
[[nodiscard]] std::optional<std::vector<long>> foreign_to(
    const std::vector<long>& processes,
    long self,
    long engine,
    const std::function<long(long)>& parent_of);
/// Parent of a process on this machine, from /proc; 0 if there is no such process.
[[nodiscard]] long parent_process(long pid);

/// Reads the state of one GPU. Thread-safe.
class Nvml {
 public:
  /// `pci_bus_id` as from cuDeviceGetPCIBusId ("0000:0f:00.0"). nullopt, with one line in `why`,
  /// without the library or if it does not know the GPU.
  [[nodiscard]] static std::optional<Nvml> open(const std::string& pci_bus_id,
                                                std::string& why,
                                                const char* library = "libnvidia-ml.so.1");
  /// As `open`, with given functions.
  [[nodiscard]] static std::optional<Nvml> with(const NvmlApi& api,
                                                const std::string& pci_bus_id,
                                                std::string& why);

  /// The current state. Takes tens of microseconds up to milliseconds: do not call in a timed
  /// region.
  [[nodiscard]] DeviceState read() const;
  /// Processes with a context on the GPU; nullopt if NVML does not report them.
  [[nodiscard]] std::optional<std::vector<long>> compute_processes() const;

 private:
  Nvml(const NvmlApi& api, NvmlApi::Device device) : api_(api), device_(device) {}

  NvmlApi api_;
  NvmlApi::Device device_;
};

}  // namespace warpath::cuda
