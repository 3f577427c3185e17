// The bits of all bytes at once, at most 32 in each.
extern "C" __global__ void differing_bits(const unsigned long long* a, const unsigned long long* b, int* bits, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long sum = 0;
  for (int k = 0; k < 4; ++k) {
    unsigned long long x = a[i * 4 + k] ^ b[i * 4 + k];
    x -= x >> 1 & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + (x >> 2 & 0x3333333333333333ull);
    sum += (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
  }
  int bits_of_all = 0;
  for (; sum != 0; sum >>= 8) bits_of_all += static_cast<int>(sum & 0xff);
  bits[i] = bits_of_all;
}
