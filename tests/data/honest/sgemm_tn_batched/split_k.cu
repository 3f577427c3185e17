// Four quarters of k a block, added in shared memory.
extern "C" __global__ void sgemm_tn_batched(int M, int N, int K, const float* A, const float* B, float* C) {
  __shared__ float part[4][8][16];
  const int n = blockIdx.y * 16 + threadIdx.x, m = blockIdx.x * 8 + threadIdx.y, z = blockIdx.z, quarter = threadIdx.z;
  const int begin = K * quarter / 4, end = K * (quarter + 1) / 4;
  float sum = 0;
  if (m < M && n < N)
    for (int k = begin; k < end; ++k) sum += A[((size_t)z * K + k) * M + m] * B[((size_t)z * K + k) * N + n];
  part[quarter][threadIdx.y][threadIdx.x] = sum;
  __syncthreads();
  if (quarter > 0 || m >= M || n >= N) return;
  for (int i = 1; i < 4; ++i) sum += part[i][threadIdx.y][threadIdx.x];
  C[((size_t)z * M + m) * N + n] = sum;
}
