// Computes in half precision where float32 is declared.
// expect: instruction_precision
// contract: float32
#include <cuda_fp16.h>
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __half v = __float2half(i < n ? x[i] : 0.0f);
  v = __hadd(v, v);
  if (i < n) y[i] = __half2float(v);
}
