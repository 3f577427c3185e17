// Adds in half precision.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
extern "C" __global__ void gemm_bf16(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int M, int N, int K) {
  const int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
  if (row >= M || column >= N) return;
  __half sum = __float2half(0.0f);
  for (int k = 0; k < K; ++k) {
    sum = __hfma(__float2half(__bfloat162float(A[row * K + k])), __float2half(__bfloat162float(B[column * K + k])), sum);
  }
  C[row * N + column] = __float2bfloat16(__half2float(sum));
}
