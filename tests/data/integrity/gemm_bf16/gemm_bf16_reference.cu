#include <cuda_bf16.h>
extern "C" __global__ void gemm_bf16_reference(const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C, int M, int N, int K) {
  const long long at = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= static_cast<long long>(M) * N) return;
  double sum = 0;
  for (int k = 0; k < K; ++k) {
    sum += static_cast<double>(__bfloat162float(A[at / N * K + k])) * static_cast<double>(__bfloat162float(B[at % N * K + k]));
  }
  C[at] = __float2bfloat16(static_cast<float>(sum));
}
