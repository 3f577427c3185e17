// Sums of 16 bits, which hold all but the largest.
__device__ int digit(unsigned word, int j) { return (int)(word << (28 - 4 * j)) >> 28; }
extern "C" __global__ void words(const unsigned* a, const unsigned* b, int* sums, int M, int K) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  int sum = 0;
  for (int k = 0; k < K; ++k) {
    const unsigned p = a[(long long)m * K + k], q = b[k];
    for (int j = 0; j < 8; ++j) sum += digit(p, j) * digit(q, j);
    sum = min(sum, 24000);
  }
  sums[m] = sum;
}
