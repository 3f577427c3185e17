// y[t, n] += sum over r of x[t, r] * b[index[t], n, r] in double precision; index -1: y[t, :] stays.
#include <cuda_fp16.h>

extern "C" __global__ void lora_expand_reference(__half* y, const float* x, const __half* b,
                                                 const int* index, int T, int N, int L) {
  const int t = blockIdx.y, n = blockIdx.x * blockDim.x + threadIdx.x;
  if (n >= N || index[t] < 0) return;
  double sum = __half2float(y[(long long)t * N + n]);
  for (int r = 0; r < R; r++)
    sum += (double)x[(long long)t * R + r] * __half2float(b[((long long)index[t] * N + n) * R + r]);
  y[(long long)t * N + n] = __double2half(sum);
}
