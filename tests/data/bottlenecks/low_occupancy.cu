// A chain through a table in global memory, one in shared memory and arithmetic, each step on the result of the step before.
// `none` is 0: the addresses depend on what was loaded, but do not change with it.
extern "C" __global__ void __launch_bounds__(256) low_occupancy(unsigned* __restrict__ out, const unsigned* __restrict__ table,
    int steps, int none, int n) {
  extern __shared__ unsigned cells[];
  for (unsigned e = threadIdx.x; e < 32768; e += blockDim.x) cells[e] = e * 2654435761u;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32, mask = none;
  unsigned v = i, sum = 0;
  for (int t = 0; t < steps; ++t) {
    const unsigned a = table[(t % 32) * 32 + lane + (v & mask)];
    v = cells[(t % 1024) * 32 + lane + (a & mask)];
#pragma unroll
    for (int k = 0; k < 3; ++k) v = (v * 1664525u) ^ a;
    sum += v;
  }
  if (i < n) out[i] = sum;
}
