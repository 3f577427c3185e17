#include <cuda_bf16.h>
// Four products an instruction on operands put together from bytes.
__device__ int four(const signed char* p, int count) {
  unsigned word = 0;
  for (int i = 0; i < count; ++i) word |= (unsigned)(unsigned char)p[i] << (8 * i);
  return (int)word;
}
extern "C" __global__ void int8_scaled_mm(int M, int N, int K, const signed char* A, const signed char* B, const float* sa, const float* sb, __nv_bfloat16* C) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x, col = blockIdx.y * blockDim.y + threadIdx.y;
  if (row >= M || col >= N) return;
  int sum = 0;
  for (int k = 0; k < K; k += 4) {
    const int count = min(4, K - k);
    sum = __dp4a(four(A + row * K + k, count), four(B + col * K + k, count), sum);
  }
  C[row * N + col] = __float2bfloat16(sa[row] * ((float)sum * sb[col]));
}
