// Digits with the sign bit turned, less 8.
extern "C" __global__ void words(const unsigned* a, const unsigned* b, int* sums, int M, int K) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  int sum = 0;
  for (int k = 0; k < K; ++k) {
    const unsigned p = a[(size_t)m * K + k] ^ 0x88888888u, q = b[k] ^ 0x88888888u;
#pragma unroll
    for (int j = 0; j < 8; ++j) sum += ((int)(p >> 4 * j & 15u) - 8) * ((int)(q >> 4 * j & 15u) - 8);
  }
  sums[m] = sum;
}
