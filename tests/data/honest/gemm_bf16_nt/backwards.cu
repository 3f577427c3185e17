#include <cuda_bf16.h>
// From the last step to the first, four sums side by side.
extern "C" __global__ void gemm_bf16_nt(int M, int N, int K, const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C) {
  const int col = blockIdx.x * BLOCK_X + threadIdx.x, row = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (row >= M || col >= N) return;
  float sum[4] = {};
  for (int k = K - 1; k >= 0; --k) sum[k % 4] += __bfloat162float(A[row * K + k]) * __bfloat162float(B[col * K + k]);
  C[row * N + col] = __float2bfloat16((sum[0] + sum[1]) + (sum[2] + sum[3]));
}
