#pragma once

#include "runners/cuda/driver/device.h"

namespace cuda_test {

/// The first GPU, its context current on this thread. Only suites whose name begins with "gpu" may
/// call it.
[[nodiscard]] inline const warpath::cuda::Device& gpu() {
  static std::string why;
  static const auto api = warpath::cuda::load_driver(why);
  static const warpath::cuda::Device device(api.value(), 0);
  return device;
}

}  // namespace cuda_test
