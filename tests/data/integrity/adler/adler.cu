// Adler-32 of every row (b << 16 | a, modulo 65521); buffer not aligned
extern "C" __global__ void adler(const unsigned char* x, unsigned int* o, int R, int L) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R) return;
  unsigned a = 1, b = 0;
  for (int j = 0; j < L; ++j) {
    a = (a + x[i * L + j]) % 65521u;
    b = (b + a) % 65521u;
  }
  o[i] = b << 16 | a;
}
