#include <cuda_fp16.h>
extern "C" __global__ void row_pairs(float* s, const __half* x, int R, int C) {
  int r = blockIdx.x, lane = threadIdx.x;
  float sum = 0.0f;
  for (int c = lane; c < C; c += 32) sum += __half2float(x[r * C + c]);
  for (int d = 16; d > 0; d /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, d);
  if (lane == 0) s[r] = sum;
}
