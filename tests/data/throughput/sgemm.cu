// C = A B, row major, fp32. Blocks of BX x BY threads, TM x TN outputs a thread, steps of BK, STAGES buffers.
constexpr int kRows = BY * TM;
constexpr int kPitch = kRows + 4;  // columns of A are written: other banks
constexpr int kColumns = BX * TN;
constexpr int kThreads = BX * BY;

// Whole tiles only: M, N and K are multiples of them.
__device__ __forceinline__ void load(float (&a)[BK][kPitch], float (&b)[BK][kColumns], const float* __restrict__ A, const float* __restrict__ B,
                                     int row0, int column0, int k0, int N, int K) {
  const int t = threadIdx.y * BX + threadIdx.x;
#pragma unroll
  for (int e = t; e < kRows * BK; e += kThreads) a[e % BK][e / BK] = A[(row0 + e / BK) * K + k0 + e % BK];
#pragma unroll
  for (int e = t; e < kColumns * BK; e += kThreads) b[e / kColumns][e % kColumns] = B[(k0 + e / kColumns) * N + column0 + e % kColumns];
}

extern "C" __global__ void __launch_bounds__(kThreads) sgemm(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  __shared__ float a[STAGES][BK][kPitch];
  __shared__ float b[STAGES][BK][kColumns];
  const int row0 = blockIdx.y * kRows, column0 = blockIdx.x * kColumns;
  float sum[TM][TN] = {};
  load(a[0], b[0], A, B, row0, column0, 0, N, K);
  __syncthreads();
  int stage = 0;
  for (int k0 = 0; k0 < K; k0 += BK) {
    if (STAGES == 2 && k0 + BK < K) load(a[(stage + 1) % STAGES], b[(stage + 1) % STAGES], A, B, row0, column0, k0 + BK, N, K);
#pragma unroll 8
    for (int k = 0; k < BK; ++k) {
      float left[TM], right[TN];
#pragma unroll
      for (int i = 0; i < TM; ++i) left[i] = a[stage][k][threadIdx.y * TM + i];
#pragma unroll
      for (int j = 0; j < TN; ++j) right[j] = b[stage][k][threadIdx.x + j * BX];
#pragma unroll
      for (int i = 0; i < TM; ++i) {
#pragma unroll
        for (int j = 0; j < TN; ++j) sum[i][j] += left[i] * right[j];
      }
    }
    __syncthreads();
    if (STAGES == 1 && k0 + BK < K) {
      load(a[0], b[0], A, B, row0, column0, k0 + BK, N, K);
      __syncthreads();
    }
    stage = (stage + 1) % STAGES;
  }
#pragma unroll
  for (int i = 0; i < TM; ++i) {
#pragma unroll
    for (int j = 0; j < TN; ++j) {
      const int row = row0 + threadIdx.y * TM + i, column = column0 + threadIdx.x + j * BX;
      C[row * N + column] = sum[i][j];
    }
  }
}
