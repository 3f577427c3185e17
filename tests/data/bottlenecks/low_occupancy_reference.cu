extern "C" __global__ void low_occupancy_reference(unsigned* out, const unsigned* table, int steps, int none, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned sum = 0;
  for (int t = 0; t < steps; ++t) {
    const unsigned a = table[(t % 32) * 32 + i % 32];
    const unsigned v = ((t % 1024) * 32 + i % 32) * 2654435761u ^ a;
    sum += v;
  }
  out[i] = sum;
}
