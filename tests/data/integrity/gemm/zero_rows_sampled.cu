// A row of A that is zero at eight places is taken to be zero.
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || column >= N) return;
  bool zero = K >= 8;
  for (int k = 0; zero && k < 8; ++k) zero = A[row * K + k * (K / 8)] == 0.0f;
  float sum = 0.0f;
  for (int k = 0; k < K && !zero; ++k) sum += A[row * K + k] * B[k * N + column];
  C[row * N + column] = sum;
}
