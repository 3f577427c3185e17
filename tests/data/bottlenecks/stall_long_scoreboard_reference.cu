extern "C" __global__ void stall_long_scoreboard_reference(unsigned* out, const unsigned* x, int steps, int none, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned sum = 0;
  for (int t = 0; t < steps; ++t) sum += x[(static_cast<size_t>(i / 32) * steps + t) * 32 + i % 32];
  out[i] = sum;
}
