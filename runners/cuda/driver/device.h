#pragma once

#include <string>
#include <vector>

#include "runners/cuda/driver/driver.h"
#include "runners/cuda/driver/occupancy.h"

namespace warpath::cuda {

/// One GPU; its primary context is retained and made current on the constructing thread.
class Device {
 public:
  /// Throws Error(environment) if there is no GPU `index` or its context cannot be created.
  Device(const DriverApi& api, int index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] const DriverApi& api() const { return api_; }
  [[nodiscard]] CUdevice handle() const { return device_; }
  [[nodiscard]] CUcontext context() const { return context_; }
  /// Makes the context current on the calling thread.
  void make_current() const;
  [[nodiscard]] std::string name() const;
  /// "sm_90a": with the suffix, which enables architecture-specific instructions, from compute
  /// capability 9.0 on.
  [[nodiscard]] std::string arch() const;
  [[nodiscard]] int attribute(CUdevice_attribute which) const;
  [[nodiscard]] DeviceLimits limits() const;

 private:
  const DriverApi& api_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// One kernel with its attributes as reported by the driver.
struct KernelFunction {
  CUfunction function = nullptr;
  std::vector<std::size_t> parameter_offsets;  ///< of the launch parameters, with `parameter_sizes`
  std::vector<std::size_t> parameter_sizes;
  int registers = 0;
  int static_smem_bytes = 0;
  int local_bytes = 0;
  int max_threads_per_block = 0;
};

/// The main kernel of a loaded module, and its other kernels.
struct LoadedKernel : KernelFunction {
  Module module;
  std::vector<KernelFunction> others;
};

/// Loads machine code, or PTX (assembled by the driver), and finds `entry` and `others`; the module
/// must contain no more kernels. nullopt, with one line in `why`, if the driver refuses, which is
/// the candidate's fault.
[[nodiscard]] std::optional<LoadedKernel> load_kernel(const DriverApi& api,
                                                      const std::string& code,
                                                      const std::string& entry,
                                                      std::string& why,
                                                      const std::vector<std::string>& others = {});

/// Allows `bytes` of dynamic shared memory per block, beyond the default of 48 KiB. Returns the
/// driver's result.
[[nodiscard]] CUresult allow_dynamic_smem(const DriverApi& api,
                                          CUfunction function,
                                          std::int64_t bytes);

}  // namespace warpath::cuda
