// A compensated sum of exact products (Ogita, Rump and Oishi 2005).
extern "C" __global__ void sgemm_tn_batched(int M, int N, int K, const float* A, const float* B, float* C) {
  const int m = blockIdx.x * blockDim.x + threadIdx.x, n = blockIdx.y * blockDim.y + threadIdx.y, z = blockIdx.z;
  if (m >= M || n >= N) return;
  float sum = 0, lost = 0;
  for (int k = 0; k < K; ++k) {
    const float a = A[((size_t)z * K + k) * M + m], b = B[((size_t)z * K + k) * N + n], product = __fmul_rn(a, b);
    const float next = __fadd_rn(sum, product), back = __fsub_rn(next, sum);
    lost += __fadd_rn(__fsub_rn(sum, __fsub_rn(next, back)), __fsub_rn(product, back)) + fmaf(a, b, -product);
    sum = next;
  }
  C[((size_t)z * M + m) * N + n] = sum + lost;
}
