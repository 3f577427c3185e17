#include <cuda_bf16.h>
// The group by bisection; SUMS sums side by side.
extern "C" __global__ void grouped_gemm_bf16(int G, const int* off, int K, int N, const __nv_bfloat16* X, const __nv_bfloat16* W, __nv_bfloat16* Y) {
  const int col = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= off[G] || col >= N) return;
  int low = 0, high = G;
  while (high - low > 1) {
    const int middle = (low + high) / 2;
    if (row >= off[middle]) low = middle; else high = middle;
  }
  const __nv_bfloat16* const w = W + (size_t)low * K * N + col;
  float sum[SUMS] = {};
  for (int k = 0; k < K; ++k) sum[k % SUMS] = fmaf(__bfloat162float(X[row * K + k]), __bfloat162float(w[k * N]), sum[k % SUMS]);
  float all = 0;
  for (int i = 0; i < SUMS; ++i) all += sum[i];
  Y[row * N + col] = __float2bfloat16(all);
}
