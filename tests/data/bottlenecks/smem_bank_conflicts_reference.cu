extern "C" __global__ void smem_bank_conflicts_reference(unsigned* out, const unsigned* x, int steps, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned sum = i;
  for (int t = 0; t < steps; ++t) sum = sum * 3 + x[i % 32 * 32 + (i % 256 / 32 + t) % 32];
  out[i] = sum;
}
