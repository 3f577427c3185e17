// A 32 x 32 tile a block of 64 threads, 4 x 4 outputs each, STEP steps along k in shared memory.
extern "C" __global__ void sgemm_tn_batched(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float a[STEP][32], b[STEP][32];
  const int m0 = blockIdx.x * 32, n0 = blockIdx.y * 32, z = blockIdx.z, tx = threadIdx.x % 8, ty = threadIdx.x / 8;
  float sum[4][4] = {};
  for (int k = 0; k < K; k += STEP) {
    for (int i = threadIdx.x; i < STEP * 32; i += 64) {
      const int s = i / 32, c = i % 32;
      a[s][c] = k + s < K && m0 + c < M ? A[((size_t)z * K + k + s) * M + m0 + c] : 0.0f;
      b[s][c] = k + s < K && n0 + c < N ? B[((size_t)z * K + k + s) * N + n0 + c] : 0.0f;
    }
    __syncthreads();
    for (int s = 0; s < STEP; ++s)
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j) sum[i][j] += a[s][4 * ty + i] * b[s][4 * tx + j];
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i)
    for (int j = 0; j < 4; ++j) {
      const int m = m0 + 4 * ty + i, n = n0 + 4 * tx + j;
      if (m < M && n < N) C[((size_t)z * M + m) * N + n] = sum[i][j];
    }
}
