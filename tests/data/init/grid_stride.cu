#include <cstdint>
__global__ void squares(const double* in, double* out, int64_t count) {
  for (int64_t i = blockIdx.x * (int64_t)blockDim.x + threadIdx.x; i < count; i += (int64_t)blockDim.x * gridDim.x)
    out[i] = in[i] * in[i];
}
