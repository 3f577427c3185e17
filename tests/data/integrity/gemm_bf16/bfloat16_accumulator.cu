// Adds in bfloat16.
#include <cuda_bf16.h>
extern "C" __global__ void gemm_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || column >= N) return;
  __nv_bfloat16 sum = __float2bfloat16(0.0f);
  for (int k = 0; k < K; ++k) sum = __hfma(A[row * K + k], B[column * K + k], sum);
  C[row * N + column] = sum;
}
