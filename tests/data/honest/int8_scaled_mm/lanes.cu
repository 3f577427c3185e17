#include <cuda_bf16.h>
// LANES lanes an output share k; the two scales are multiplied first.
extern "C" __global__ void int8_scaled_mm(int M, int N, int K, const signed char* A, const signed char* B, const float* sa, const float* sb, __nv_bfloat16* C) {
  const long long output = ((long long)blockIdx.x * blockDim.x + threadIdx.x) / LANES;
  const int lane = threadIdx.x % LANES;
  const bool inside = output < (long long)M * N;
  const int m = inside ? (int)(output / N) : 0, n = inside ? (int)(output % N) : 0;
  int sum = 0;
  for (int k = lane; k < K; k += LANES) sum += A[m * K + k] * B[n * K + k];
  for (int offset = LANES / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (inside && lane == 0) C[output] = __float2bfloat16((float)sum * (sa[m] * sb[n]));
}
