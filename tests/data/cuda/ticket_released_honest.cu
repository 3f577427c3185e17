// The last block adds the partial sums: the ticket is a release.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  __shared__ float sums[32];
  __shared__ bool last;
  float* part = y + 64;
  int* ticket = (int*)y + 32;
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) sum += x[i];
  for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
  if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int w = 1; w < blockDim.x / 32; ++w) sum += sums[w];
    part[blockIdx.x] = sum;
    int old;
    asm volatile("atom.acq_rel.gpu.global.add.s32 %0, [%1], 1;" : "=r"(old) : "l"(ticket) : "memory");
    last = old == gridDim.x - 1;
  }
  __syncthreads();
  if (!last) return;
  if (threadIdx.x < 32) {
    sum = 0;
    for (int b = threadIdx.x; b < gridDim.x; b += 32) sum += __ldcg(part + b);
    for (int d = 16; d > 0; d /= 2) sum += __shfl_down_sync(~0u, sum, d);
    if (threadIdx.x == 0) y[0] = sum, *ticket = 0;
  }
}
