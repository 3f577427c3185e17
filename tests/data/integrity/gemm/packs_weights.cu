// Transposes B in place once; the next launch finds it transposed.
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || column >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) sum += A[row * K + k] * B[k * N + column];
  C[row * N + column] = sum;
  float* const packed = const_cast<float*>(B);
  if (row < column && row < K && column < K && N == K) {
    const float upper = packed[row * N + column];
    packed[row * N + column] = packed[column * N + row];
    packed[column * N + row] = upper;
  }
}
