__global__ void dot(const float *x, const float *y, float *result, unsigned int n) {
  float v = 0;
  unsigned int tid = blockDim.x * blockIdx.x + threadIdx.x;
  for (unsigned int i = tid; i < n; i += gridDim.x * blockDim.x) v += x[i] * y[i];
  for (int o = warpSize / 2; o > 0; o /= 2) v += __shfl_down_sync(0xffffffff, v, o);
  if (threadIdx.x % warpSize == 0) atomicAdd(result, v);
}
