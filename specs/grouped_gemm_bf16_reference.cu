#include <cuda_bf16.h>

// Each block owns one row of one group (blockIdx.y = group, rows strided over blockIdx.x); fp64
// products and sums.
extern "C" __global__ void grouped_gemm_bf16_reference(int G,
                                                       const int* off,
                                                       int K,
                                                       int N,
                                                       const __nv_bfloat16* X,
                                                       const __nv_bfloat16* W,
                                                       __nv_bfloat16* Y) {
  const long long g = blockIdx.y;
  if (g >= G) return;
  const __nv_bfloat16* weights = W + g * K * N;
  for (long long row = off[g] + static_cast<long long>(blockIdx.x); row < off[g + 1];
       row += gridDim.x) {
    for (long long n = threadIdx.x; n < N; n += blockDim.x) {
      double sum = 0;
      for (long long k = 0; k < K; ++k) {
        sum += static_cast<double>(__bfloat162float(X[row * K + k])) *
               static_cast<double>(__bfloat162float(weights[k * N + n]));
      }
      Y[row * N + n] = __float2bfloat16(static_cast<float>(sum));
    }
  }
}
