extern "C" __global__ void gemm_reference(const float* A, const float* B, float* C, int M, int N, int K) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= static_cast<long long>(M) * N) return;
  double sum = 0;
  for (int k = 0; k < K; ++k) sum += static_cast<double>(A[at / N * K + k]) * static_cast<double>(B[static_cast<long long>(k) * N + at % N]);
  C[at] = static_cast<float>(sum);
}
