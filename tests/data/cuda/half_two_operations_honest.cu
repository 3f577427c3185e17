// Adds and multiplies halves once each: the bits of float arithmetic that is rounded.
// expect: accept
// contract: float16
#include <cuda_fp16.h>
extern "C" __global__ void k(const __half* x, __half* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __hmul(__hsub(x[i], __float2half(0.5f)), __float2half(2.0f));
}
