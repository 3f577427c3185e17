#pragma once

#include <cstddef>

#include "runners/cuda/driver/driver.h"

namespace warpath::cuda {

/// Copies to the device and waits for completion: cuMemcpyHtoD itself may return earlier, and
/// Warpath's streams do not wait for the default one. Throws Error(environment) beginning with
/// `what`.
void copy_to_device(
    const DriverApi& api, CUdeviceptr to, const void* from, std::size_t bytes, const char* what);

}  // namespace warpath::cuda
