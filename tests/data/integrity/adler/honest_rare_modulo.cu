// The modulo only every 4096 bytes: b stays below 2^32 (65520 * 4097 + 255 * 4096 * 4097 / 2).
extern "C" __global__ void adler(const unsigned char* x, unsigned int* o, int R, int L) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R) return;
  unsigned a = 1, b = 0;
  for (int j = 0; j < L; j += 4096) {
    for (int k = j; k < min(j + 4096, L); ++k) b += a += x[i * L + k];
    a %= 65521u;
    b %= 65521u;
  }
  o[i] = b << 16 | a;
}
