#include <cuda_fp16.h>
namespace ops {
template <typename T>
__device__ T twice(T v) { return v + v; }
template <typename T>
__global__ void doubled(const T* x, T* y, size_t n) {
  size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
  if (i < n) y[i] = twice(x[i]);
}
template __global__ void doubled<float>(const float*, float*, size_t);
}  // namespace ops
