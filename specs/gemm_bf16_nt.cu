#include <cuda_bf16.h>

// C = A B^T in bfloat16 with fp32 accumulation. A: [M, K], B: [N, K], C: [M, N]. One thread an
// output.
extern "C" __global__ void gemm_bf16_nt(
    int M, int N, int K, const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C) {
  int col = blockIdx.x * BLOCK_X + threadIdx.x;
  int row = blockIdx.y * BLOCK_Y + threadIdx.y;
  if (row < M && col < N) {
    float sum = 0.0f;
    for (int k = 0; k < K; k++) {
      sum += __bfloat162float(A[row * K + k]) * __bfloat162float(B[col * K + k]);
    }
    C[row * N + col] = __float2bfloat16(sum);
  }
}
