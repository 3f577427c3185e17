extern "C" __global__ void register_limited_reference(unsigned* out, const unsigned* table, int steps, int none, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned sum = 0;
  for (int j = 0; j < 160; ++j) {
    const int s = j / 8;
    unsigned each = i + j;
    for (int t = 0; t < steps; ++t) {
      const unsigned a = table[((t + s) % 32) * 32 + i % 32];
      unsigned v = (((t + s) % 8) * 32 + i % 32) * 2654435761u;
      for (int k = 0; k < 3; ++k) v = (v * 1664525u) ^ a;
      each = each * 22695477u + v;
    }
    sum ^= each;
  }
  out[i] = sum;
}
