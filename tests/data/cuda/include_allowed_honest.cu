// Includes what it may, and mentions a file in a comment.
// expect: accept
// contract: float32
#include <cuda_fp16.h>
#include "cuda_bf16.h"
%:include <stdint.h>
/* #include "/etc/hostname" */
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
