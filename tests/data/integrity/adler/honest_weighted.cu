// A warp a row, weighted sums in 64 bits.
extern "C" __global__ void adler(const unsigned char* x, unsigned int* o, int R, int L) {
  unsigned a = 0;
  unsigned long long b = 0;
  for (int j = threadIdx.x; j < L; j += 32) {
    const unsigned v = x[blockIdx.x * L + j];
    a += v;
    b += (unsigned long long)(L - j) * v;
  }
  unsigned c = b % 65521u;
  for (int w_ = 16; w_ > 0; w_ /= 2) a += __shfl_xor_sync(0xffffffffu, a, w_);
  for (int w_ = 16; w_ > 0; w_ /= 2) c += __shfl_xor_sync(0xffffffffu, c, w_);
  if (threadIdx.x == 0) o[blockIdx.x] = (c + L) % 65521u << 16 | (a + 1) % 65521u;
}
