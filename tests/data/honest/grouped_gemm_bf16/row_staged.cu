#include <cuda_bf16.h>
// A block a row, which lies in shared memory in pieces of 512; each piece is summed by itself.
extern "C" __global__ void grouped_gemm_bf16(int G, const int* off, int K, int N, const __nv_bfloat16* X, const __nv_bfloat16* W, __nv_bfloat16* Y) {
  __shared__ float x[512];
  const int row = blockIdx.y, col = blockIdx.x * 128 + threadIdx.x;
  if (row >= off[G]) return;
  int g = 0;
  while (row >= off[g + 1]) ++g;
  float sum = 0;
  for (int begin = 0; begin < K; begin += 512) {
    const int count = min(512, K - begin);
    __syncthreads();
    for (int k = threadIdx.x; k < count; k += 128) x[k] = __bfloat162float(X[row * K + begin + k]);
    __syncthreads();
    if (col >= N) continue;
    float part = 0;
    for (int k = 0; k < count; ++k) part += x[k] * __bfloat162float(W[((size_t)g * K + begin + k) * N + col]);
    sum += part;
  }
  if (col < N) Y[row * N + col] = __float2bfloat16(sum);
}
