// The value in the upper half of a key, the row in the lower one; -0 is +0.
__device__ unsigned long long key(float v, int row) {
  v += 0.0f;
  const unsigned bits = __float_as_uint(v), order = bits >> 31 ? ~bits : bits | 0x80000000u;
  return (unsigned long long)order << 32 | row;
}
extern "C" __global__ void first_least(const float* x, int* at, int R, int C) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  unsigned long long least = ~0ull;
  for (int r = 0; r < R; ++r) least = min(least, key(x[(size_t)r * C + c], r));
  at[c] = (int)(unsigned)least;
}
