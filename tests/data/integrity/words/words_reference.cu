extern "C" __global__ void words_reference(const unsigned* a, const unsigned* b, int* sums, int M, int K) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x;
  if (m >= M) return;
  long long sum = 0;
  for (int i = 0; i < 8 * K; ++i) {
    const int p = a[(long long)m * K + i / 8] >> 4 * (i % 8) & 15, q = b[i / 8] >> 4 * (i % 8) & 15;
    sum += (p < 8 ? p : p - 16) * (q < 8 ? q : q - 16);
  }
  sums[m] = (int)sum;
}
