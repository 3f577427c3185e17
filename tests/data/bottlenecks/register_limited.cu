// Twenty slices of eight accumulators each, all alive over the whole loop; a chain through global memory, shared memory and arithmetic
// feeds them. `none` is 0: the addresses depend on what was loaded, but do not change with it.
constexpr int kSlices = 20, kWide = 8;

extern "C" __global__ void __launch_bounds__(256) register_limited(unsigned* __restrict__ out,
    const unsigned* __restrict__ table, int steps, int none, int n) {
  __shared__ unsigned cells[256];
  cells[threadIdx.x] = threadIdx.x * 2654435761u;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned lane = threadIdx.x % 32, mask = none;
  unsigned sums[kSlices * kWide];
#pragma unroll
  for (int j = 0; j < kSlices * kWide; ++j) sums[j] = i + j;
  unsigned v = i;
  for (int t = 0; t < steps; ++t) {
#pragma unroll
    for (int s = 0; s < kSlices; ++s) {
      const unsigned a = table[((t + s) % 32) * 32 + lane + (v & mask)];
      v = cells[((t + s) % 8) * 32 + lane + (a & mask)];
#pragma unroll
      for (int k = 0; k < 3; ++k) v = (v * 1664525u) ^ a;
#pragma unroll
      for (int j = s * kWide; j < (s + 1) * kWide; ++j) sums[j] = sums[j] * 22695477u + v;
    }
  }
  unsigned sum = 0;
#pragma unroll
  for (int j = 0; j < kSlices * kWide; ++j) sum ^= sums[j];
  if (i < n) out[i] = sum;
}
