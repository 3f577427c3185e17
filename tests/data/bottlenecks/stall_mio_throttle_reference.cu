extern "C" __global__ void stall_mio_throttle_reference(unsigned* out, const unsigned* seeds, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned sum = seeds[i];
  for (int t = 0; t < steps; ++t) {
    for (int k = 0; k < 32; ++k) sum += ((t % 32 + k) * 32 + i % 32) * 2654435761u;
  }
  out[i] = sum;
}
