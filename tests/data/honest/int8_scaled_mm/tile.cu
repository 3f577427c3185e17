#include <cuda_bf16.h>
// A 16 x 16 tile a block, 32 steps along k in shared memory.
extern "C" __global__ void int8_scaled_mm(int M, int N, int K, const signed char* A, const signed char* B, const float* sa, const float* sb, __nv_bfloat16* C) {
  __shared__ signed char a[16][33], b[16][33];
  const int row = blockIdx.x * 16, col = blockIdx.y * 16, tid = threadIdx.y * 16 + threadIdx.x;
  int sum = 0;
  for (int k = 0; k < K; k += 32) {
    for (int i = tid; i < 512; i += 256) {
      const int r = i / 32, s = i % 32;
      a[r][s] = row + r < M && k + s < K ? A[(row + r) * K + k + s] : 0;
      b[r][s] = col + r < N && k + s < K ? B[(col + r) * K + k + s] : 0;
    }
    __syncthreads();
    for (int s = 0; s < 32; ++s) sum += a[threadIdx.y][s] * b[threadIdx.x][s];
    __syncthreads();
  }
  if (row + threadIdx.y < M && col + threadIdx.x < N)
    C[(row + threadIdx.y) * N + col + threadIdx.x] = __float2bfloat16((float)sum * sa[row + threadIdx.y] * sb[col + threadIdx.x]);
}
