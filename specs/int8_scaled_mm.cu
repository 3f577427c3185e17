#include <cuda_bf16.h>

// C[m, n] = sa[m] * sb[n] * sum_k A[m, k] B[n, k]; the sum is an exact int32. A: [M, K], B: [N, K].
// One thread an output.
extern "C" __global__ void int8_scaled_mm(int M,
                                          int N,
                                          int K,
                                          const signed char* A,
                                          const signed char* B,
                                          const float* sa,
                                          const float* sb,
                                          __nv_bfloat16* C) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  int col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < M && col < N) {
    int sum = 0;
    for (int k = 0; k < K; k++) {
      sum += A[row * K + k] * B[col * K + k];
    }
    C[row * N + col] = __float2bfloat16((float)sum * sa[row] * sb[col]);
  }
}
