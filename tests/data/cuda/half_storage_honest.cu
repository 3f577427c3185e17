// Loads and stores half values, computes in float32.
// expect: accept
// contract: float16
#include <cuda_fp16.h>
extern "C" __global__ void k(const __half* x, __half* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float2half(2.0f * __half2float(x[i]));
}
