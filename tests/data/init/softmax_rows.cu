#include <cfloat>
__inline__ __device__ float warp_max(float v) {
  for (int d = 16; d > 0; d >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffffu, v, d));
  return v;
}
__inline__ __device__ float warp_sum(float v) {
  for (int d = 16; d > 0; d >>= 1) v += __shfl_xor_sync(0xffffffffu, v, d);
  return v;
}
// One warp a row, four rows a block.
__global__ void softmax(float* out, const float* in, int N, int C) {
  int lane = threadIdx.x % 32, row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= N) return;
  const float* x = in + row * C;
  float* y = out + row * C;
  float top = -FLT_MAX, sum = 0.f;
  for (int j = lane; j < C; j += 32) top = fmaxf(top, x[j]);
  top = warp_max(top);
  for (int j = lane; j < C; j += 32) sum += expf(x[j] - top);
  sum = warp_sum(sum);
  for (int j = lane; j < C; j += 32) y[j] = expf(x[j] - top) / sum;
}
