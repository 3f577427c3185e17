// A grid-stride loop; every warp adds its sum. SUM: of the sums.
#ifndef SUM
#define SUM float
#endif
extern "C" __global__ void dot(float* out, const float* x, const float* y, int n) {
  SUM sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += (SUM)x[i] * (SUM)y[i];
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (threadIdx.x % 32 == 0) atomicAdd(out, (float)sum);
}
