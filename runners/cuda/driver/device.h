#pragma once

#include <string>
#include <vector>

#include "runners/cuda/driver/driver.h"
#include "runners/cuda/driver/occupancy.h"

namespace warpath::cuda {

/// One GPU with its primary context retained and current on the thread that made it.
class Device {
 public:
  /// Throws Error(environment) if there is no GPU `index` or its context cannot be had.
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
  /// "sm_90a": with the letter from compute capability 9.0 on, whose instructions for its own
  /// generation it unlocks.
  [[nodiscard]] std::string arch() const;
  [[nodiscard]] int attribute(CUdevice_attribute which) const;
  [[nodiscard]] DeviceLimits limits() const;

 private:
  const DriverApi& api_;
  CUdevice device_ = 0;
  CUcontext context_ = nullptr;
};

/// One kernel and what the driver says of it.
struct KernelFunction {
  CUfunction function = nullptr;
  std::vector<std::size_t> parameter_offsets;  ///< of the launch parameters, with `parameter_sizes`
  std::vector<std::size_t> parameter_sizes;
  int registers = 0;
  int static_smem_bytes = 0;
  int local_bytes = 0;
  int max_threads_per_block = 0;
};

/// A loaded module's main kernel, and its other ones.
struct LoadedKernel : KernelFunction {
  Module module;
  std::vector<KernelFunction> others;
};

/// Loads machine code, or PTX, which the driver assembles, and finds `entry` and `others`; there
/// must be no more kernels. nullopt and one line in `why` where the driver refuses: that is the
/// candidate's failing.
[[nodiscard]] std::optional<LoadedKernel> load_kernel(const DriverApi& api,
                                                      const std::string& code,
                                                      const std::string& entry,
                                                      std::string& why,
                                                      const std::vector<std::string>& others = {});

/// Allows `bytes` of dynamic shared memory a block, beyond the 48 KiB that every kernel has.
/// CUDA_SUCCESS or why not.
[[nodiscard]] CUresult allow_dynamic_smem(const DriverApi& api,
                                          CUfunction function,
                                          std::int64_t bytes);

}  // namespace warpath::cuda
