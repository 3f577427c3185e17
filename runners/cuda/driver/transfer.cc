#include "runners/cuda/driver/transfer.h"

namespace warpath::cuda {

void copy_to_device(
    const DriverApi& api, CUdeviceptr to, const void* from, std::size_t bytes, const char* what) {
  require(api, api.cuMemcpyHtoD(to, from, bytes), what);
  require(api, api.cuStreamSynchronize(nullptr), what);
}

}  // namespace warpath::cuda
