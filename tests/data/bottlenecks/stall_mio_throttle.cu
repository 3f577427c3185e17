// Blocks of 32 independent loads from shared memory, lane l in bank l.
extern "C" __global__ void __launch_bounds__(256, 8) stall_mio_throttle(unsigned* __restrict__ out,
    const unsigned* __restrict__ seeds, int steps, int n) {
  __shared__ unsigned cells[2048];
  for (unsigned e = threadIdx.x; e < 2048; e += blockDim.x) cells[e] = e * 2654435761u;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned* const column = cells + threadIdx.x % 32;
  unsigned sums[4] = {seeds[i], 0, 0, 0};
  for (int t = 0; t < steps; ++t) {
    const unsigned* const from = column + t % 32 * 32;
#pragma unroll
    for (int k = 0; k < 32; ++k) sums[k % 4] += from[k * 32];
  }
  out[i] = sums[0] + sums[1] + sums[2] + sums[3];
}
