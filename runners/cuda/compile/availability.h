#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpath::cuda {

struct DeviceSummary {
  int index = 0;
  std::string name;
  std::string uuid;  ///< 32 hexadecimal digits; empty if the driver does not report it
  int multiprocessors = 0;
  int compute_major = 0, compute_minor = 0;
  std::uint64_t memory_bytes = 0;
};

/// What this machine offers for running kernels on a GPU. Each `..._problem` is empty if the
/// component is available, otherwise one line on what is missing.
struct Platform {
  std::string driver_problem;
  int driver_version = 0;  ///< CUDA version the driver supports: 1000 * major + 10 * minor
  std::string device_problem;
  std::vector<DeviceSummary> devices;
  std::string nvrtc_problem;
  std::string nvrtc_version;
  std::string nvrtc_path;
};

/// Opens the driver and NVRTC and lists the devices without creating a context. In a build without
/// CUDA headers NVRTC is reported as a problem. Thread-safe; never throws.
[[nodiscard]] Platform probe_platform() noexcept;

/// True if the driver, a device and NVRTC are available; otherwise `why` names the first that is
/// missing.
[[nodiscard]] bool cuda_available(std::string& why) noexcept;

}  // namespace warpath::cuda
