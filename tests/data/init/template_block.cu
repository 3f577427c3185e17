template <int BLOCK, int ITEMS = 4>
__global__ void __launch_bounds__(BLOCK) partial_max(const float* x, float* out, int n) {
  __shared__ float best[BLOCK];
  float top = -3.4e38f;
  int base = blockIdx.x * BLOCK * ITEMS + threadIdx.x;
  for (int k = 0; k < ITEMS; ++k)
    if (base + k * BLOCK < n) top = fmaxf(top, x[base + k * BLOCK]);
  best[threadIdx.x] = top;
  __syncthreads();
  for (int s = BLOCK / 2; s > 0; s /= 2) {
    if (threadIdx.x < s) best[threadIdx.x] = fmaxf(best[threadIdx.x], best[threadIdx.x + s]);
    __syncthreads();
  }
  if (threadIdx.x == 0) out[blockIdx.x] = best[0];
}
