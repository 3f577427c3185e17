// Sums a row in half precision, lane by lane and through shared memory.
// expect: instruction_precision
// contract: float16
#include <cuda_fp16.h>
extern "C" __global__ void k(const __half* x, __half* y, int n) {
  __shared__ __half part[32];
  __half sum = __float2half(0.0f);
  for (int i = threadIdx.x; i < n; i += 32) sum = __hadd(sum, x[i]);
  part[threadIdx.x] = sum;
  __syncthreads();
  if (threadIdx.x > 0) return;
  for (int i = 1; i < 32; ++i) sum = __hadd(sum, part[i]);
  y[0] = sum;
}
