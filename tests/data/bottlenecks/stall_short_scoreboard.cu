// A chain through shared memory, lane l in bank l. `none` is 0: each address waits for the load before, but does not change with it.
extern "C" __global__ void __launch_bounds__(256) stall_short_scoreboard(unsigned* __restrict__ out,
    const unsigned* __restrict__ seeds, int steps, int none, int n) {
  extern __shared__ unsigned cells[];
  for (unsigned e = threadIdx.x; e < 12288; e += blockDim.x) cells[e] = e * 2654435761u;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned lane = threadIdx.x % 32, mask = none;
  unsigned v = seeds[i], sum = v;
#pragma unroll 4
  for (int t = 0; t < steps; ++t) {
    v = cells[(t % 256) * 32 + lane + (v & mask)];
    sum += v;
  }
  out[i] = sum;
}
