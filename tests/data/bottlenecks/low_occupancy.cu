// A chain twice through a table in global memory and once through one in shared memory, each load at an address of the load before.
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
    const unsigned b = table[((t + 16) % 32) * 32 + lane + (a & mask)];
    v = cells[(t % 1024) * 32 + lane + (b & mask)] ^ a;
    sum += v;
  }
  if (i < n) out[i] = sum;
}
