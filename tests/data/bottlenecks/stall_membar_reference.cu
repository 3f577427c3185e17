extern "C" __global__ void stall_membar_reference(unsigned* state, const unsigned* seeds, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = seeds[i];
  for (int t = 0; t < steps; ++t) v = (v * 1664525u) ^ 1013904223u;
  state[i] = v;
}
