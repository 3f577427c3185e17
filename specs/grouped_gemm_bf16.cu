#include <cuda_bf16.h>

// Rows off[g] .. off[g+1]-1 of Y = the same rows of X times W[g]. off: [G + 1], X: [off[G], K], W:
// [G, K, N]. One thread an output, which first looks for the group of its row.
extern "C" __global__ void grouped_gemm_bf16(int G,
                                             const int* off,
                                             int K,
                                             int N,
                                             const __nv_bfloat16* X,
                                             const __nv_bfloat16* W,
                                             __nv_bfloat16* Y) {
  int col = blockIdx.x * blockDim.x + threadIdx.x;
  int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= off[G] || col >= N) return;

  int g = 0;
  while (row >= off[g + 1]) {
    g++;
  }

  float sum = 0.0f;
  for (int k = 0; k < K; k++) {
    sum += __bfloat162float(X[row * K + k]) * __bfloat162float(W[(g * K + k) * N + col]);
  }
  Y[row * N + col] = __float2bfloat16(sum);
}
