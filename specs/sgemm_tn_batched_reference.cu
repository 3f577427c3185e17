// One flat index over the outputs of batch blockIdx.z; fp64 products and sums.
extern "C" __global__ void sgemm_tn_batched_reference(
    int M, int N, int K, const float* A, const float* B, float* C) {
  const long long output = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (output >= static_cast<long long>(M) * N) return;
  const float* a = A + static_cast<long long>(blockIdx.z) * K * M + output / N;
  const float* b = B + static_cast<long long>(blockIdx.z) * K * N + output % N;
  double sum = 0;
  for (const float* end = b + static_cast<long long>(K) * N; b != end; a += M, b += N) {
    sum += static_cast<double>(*a) * static_cast<double>(*b);
  }
  C[static_cast<long long>(blockIdx.z) * M * N + output] = static_cast<float>(sum);
}
