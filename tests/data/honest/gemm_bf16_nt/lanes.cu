#include <cuda_bf16.h>
// A warp an output: the lanes share k.
#ifndef SUM
#define SUM float
#endif
extern "C" __global__ void gemm_bf16_nt(int M, int N, int K, const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C) {
  const int col = blockIdx.x * 4 + threadIdx.x / 32, row = blockIdx.y, lane = threadIdx.x % 32;
  if (col >= N) return;
  SUM sum = 0;
  for (int k = lane; k < K; k += 32) sum += (SUM)__bfloat162float(A[row * K + k]) * (SUM)__bfloat162float(B[col * K + k]);
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) C[row * N + col] = __float2bfloat16((float)sum);
}
