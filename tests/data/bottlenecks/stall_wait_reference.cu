extern "C" __global__ void stall_wait_reference(unsigned* out, const unsigned* seeds, int factor, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned v = seeds[i];
  for (int t = 0; t < steps; ++t) v = (v * static_cast<unsigned>(factor)) ^ 1013904223u;
  out[i] = v;
}
