// Every step is published before the next begins.
extern "C" __global__ void __launch_bounds__(256) stall_membar(unsigned* __restrict__ state, const unsigned* __restrict__ seeds, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = seeds[i];
  for (int t = 0; t < steps; ++t) {
    v = (v * 1664525u) ^ 1013904223u;
    state[i] = v;
    __threadfence();
  }
}
