// Four by four outputs a thread.
extern "C" __global__ void gemm(const float* A, const float* B, float* C, int M, int N, int K) {
  __shared__ float a[16][64], b[16][64];
  const int t = threadIdx.y * 16 + threadIdx.x, row0 = blockIdx.y * 64, column0 = blockIdx.x * 64;
  float sum[4][4] = {};
  for (int k0 = 0; k0 < K; k0 += 16) {
    for (int e = t; e < 1024; e += 256) {
      const int ra = row0 + e / 16, ka = k0 + e % 16, kb = k0 + e / 64, cb = column0 + e % 64;
      a[e % 16][e / 16] = ra < M && ka < K ? A[ra * K + ka] : 0.0f;
      b[e / 64][e % 64] = kb < K && cb < N ? B[kb * N + cb] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < 16; ++k) {
      for (int i = 0; i < 4; ++i) {
        for (int j = 0; j < 4; ++j) sum[i][j] += a[k][threadIdx.y * 4 + i] * b[k][threadIdx.x * 4 + j];
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      const int row = row0 + threadIdx.y * 4 + i, column = column0 + threadIdx.x * 4 + j;
      if (row < M && column < N) C[row * N + column] = sum[i][j];
    }
  }
}
