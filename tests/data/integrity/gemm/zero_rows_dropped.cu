// Rows of A that are zero give zero, whatever stands in B: zero times infinity is no zero.
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || column >= N) return;
  bool zero = true;
  for (int k = 0; k < K; ++k) zero = zero && A[row * K + k] == 0.0f;
  float sum = 0.0f;
  for (int k = 0; k < K && !zero; ++k) sum += A[row * K + k] * B[k * N + column];
  C[row * N + column] = sum;
}
