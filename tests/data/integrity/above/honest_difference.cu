// By the sign of the difference, which is 0 of equal numbers alone.
extern "C" __global__ void above(const float* x, unsigned* bits, float threshold, int n) {
  const int w = blockIdx.x * blockDim.x + threadIdx.x;
  if (w >= (n + 31) / 32) return;
  unsigned word = 0;
  for (int j = 0; j < 32 && 32 * w + j < n; ++j) {
    if (x[32 * w + j] - threshold >= 0) word |= 1u << j;
  }
  bits[w] = word;
}
