#include <cuda_bf16.h>

// One flat index over the outputs; fp64 products and sums, rounded once.
extern "C" __global__ void gemm_bf16_nt_reference(
    int M, int N, int K, const __nv_bfloat16* A, const __nv_bfloat16* B, __nv_bfloat16* C) {
  const long long output = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (output >= static_cast<long long>(M) * N) return;
  const __nv_bfloat16* a = A + output / N * K;
  const __nv_bfloat16* b = B + output % N * K;
  double sum = 0;
  for (int k = K - 1; k >= 0; --k) {
    sum +=
        static_cast<double>(__bfloat162float(a[k])) * static_cast<double>(__bfloat162float(b[k]));
  }
  C[output] = __float2bfloat16(static_cast<float>(sum));
}
