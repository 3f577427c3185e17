// Rounds to eight bits.
// expect: instruction_precision
// contract: float32
#include <cuda_fp8.h>
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * float(__nv_fp8_e4m3(x[i]));
}
