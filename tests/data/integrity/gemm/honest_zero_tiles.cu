// Leaves out a step where a factor is zero and the other one finite: right whatever the matrices hold.
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || column >= N) return;
  float sum = 0.0f;
  for (int k = 0; k < K; ++k) {
    const float a = A[row * K + k], b = B[k * N + column];
    if (a == 0.0f && fabsf(b) < 3.0e38f) continue;
    sum += a * b;
  }
  C[row * N + column] = sum;
}
