extern "C" __global__ void coded_reference(unsigned* o, const unsigned char* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned c = x[i];
  for (int k = 0; k < 8; ++k) {
    const unsigned odd = c % 2;
    c /= 2;
    if (odd == 1) c ^= 0xedb88320u;
  }
  o[i] = c;
}
