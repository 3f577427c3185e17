// A warp sums a stretch of 32 * steps words, 32 at a time. `none` is 0: each address waits for the load before, but does not change with it.
extern "C" __global__ void __launch_bounds__(256) stall_long_scoreboard(unsigned* __restrict__ out,
    const unsigned* __restrict__ x, int steps, int none, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned* const stretch = x + static_cast<size_t>(i / 32) * steps * 32 + i % 32;
  const unsigned mask = none;
  unsigned v = 0, sum = 0;
  for (int t = 0; t < steps; ++t) {
    v = stretch[t * 32 + (v & mask)];
    sum += v;
  }
  out[i] = sum;
}
