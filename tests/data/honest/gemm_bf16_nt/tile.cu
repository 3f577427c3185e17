#include <cuda_bf16.h>
// A 32 x 32 tile a block, steps of 16 along k in shared memory, four outputs a thread.
extern "C" __global__ void gemm_bf16_nt(int M, int N, int K, const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C) {
  __shared__ float a[32][17], b[32][17];
  const int row = blockIdx.y * 32, col = blockIdx.x * 32, tx = threadIdx.x % 16, ty = threadIdx.x / 16;
  float sum[2][2] = {};
  for (int k = 0; k < K; k += 16) {
    for (int i = ty; i < 32; i += 16) {
      a[i][tx] = row + i < M && k + tx < K ? __bfloat162float(A[(row + i) * K + k + tx]) : 0.0f;
      b[i][tx] = col + i < N && k + tx < K ? __bfloat162float(B[(col + i) * K + k + tx]) : 0.0f;
    }
    __syncthreads();
    for (int s = 0; s < 16; ++s)
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) sum[i][j] += a[ty + 16 * i][s] * b[tx + 16 * j][s];
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j)
      if (row + ty + 16 * i < M && col + tx + 16 * j < N) C[(row + ty + 16 * i) * N + col + tx + 16 * j] = __float2bfloat16(sum[i][j]);
}
