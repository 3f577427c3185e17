#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace warpath::cuda {

struct DeviceSummary {
  int index = 0;
  std::string name;
  std::string uuid;  ///< 32 hexadecimal digits; empty where the driver does not tell
  int multiprocessors = 0;
  int compute_major = 0, compute_minor = 0;
  std::uint64_t memory_bytes = 0;
};

/// What this machine offers for running kernels on a GPU. A text `..._problem` is empty where the
/// thing is there, otherwise one line on what is missing.
struct Platform {
  std::string driver_problem;
  int driver_version = 0;  ///< of the CUDA that the driver supports, as 1000 * major + 10 * minor
  std::string device_problem;
  std::vector<DeviceSummary> devices;
  std::string nvrtc_problem;
  std::string nvrtc_version;
  std::string nvrtc_path;
};

/// Opens the driver and NVRTC and asks for the devices; makes no context. Works in builds without
/// the CUDA headers too, where NVRTC is a problem. Any thread; never throws.
[[nodiscard]] Platform probe_platform() noexcept;

/// True where the driver, a device and NVRTC are there; otherwise false with the first that is
/// missing in `why`.
[[nodiscard]] bool cuda_available(std::string& why) noexcept;

}  // namespace warpath::cuda
