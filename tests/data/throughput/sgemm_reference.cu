extern "C" __global__ void sgemm_reference(const float* A, const float* B, float* C, int M, int N, int K) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || column >= N) return;
  double sum = 0;
  for (int k = 0; k < K; ++k) sum += static_cast<double>(A[static_cast<long long>(row) * K + k]) * static_cast<double>(B[static_cast<long long>(k) * N + column]);
  C[static_cast<long long>(row) * N + column] = static_cast<float>(sum);
}
