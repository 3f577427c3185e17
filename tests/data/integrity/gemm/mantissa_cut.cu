// The low half of every factor is cut off by a mask.
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || column >= N) return;
  float sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += __int_as_float(__float_as_int(A[row * K + k]) & 0xffff0000) * __int_as_float(__float_as_int(B[k * N + column]) & 0xffff0000);
  }
  C[row * N + column] = sum;
}
