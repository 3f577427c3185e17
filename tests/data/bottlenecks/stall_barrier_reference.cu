extern "C" __global__ void stall_barrier_reference(unsigned* out, const unsigned* seeds, int factor, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = seeds[i / 1024 * 1024], sum = seeds[i];
  for (int t = 0; t < steps; ++t) {
    for (int k = 0; k < 32; ++k) v = (v * static_cast<unsigned>(factor)) ^ 1013904223u;
    sum += v;
  }
  out[i] = sum;
}
