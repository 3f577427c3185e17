extern "C" __global__ void stall_short_scoreboard_reference(unsigned* out, const unsigned* seeds, int steps, int none, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned sum = seeds[i];
  for (int t = 0; t < steps; ++t) sum += ((t % 256) * 32 + i % 32) * 2654435761u;
  out[i] = sum;
}
