// Sums over rows of a 32 x 32 tile in shared memory; lane l reads row l, so that all lanes of a warp meet in one bank.
extern "C" __global__ void __launch_bounds__(256) smem_bank_conflicts(unsigned* __restrict__ out, const unsigned* __restrict__ x, int steps, int n) {
  __shared__ unsigned tile[1024];
  for (int e = threadIdx.x; e < 1024; e += blockDim.x) tile[e] = x[e];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = threadIdx.x % 32 * 32, begin = threadIdx.x / 32;
  unsigned sum = i;
#pragma unroll 4
  for (int t = 0; t < steps; ++t) sum = sum * 3 + tile[row + (begin + t) % 32];
  if (i < n) out[i] = sum;
}
