#include <cuda_bf16.h>

// One flat index over the outputs; 64-bit integer sum, fp64 scaling, rounded once.
extern "C" __global__ void int8_scaled_mm_reference(int M,
                                                    int N,
                                                    int K,
                                                    const signed char* A,
                                                    const signed char* B,
                                                    const float* sa,
                                                    const float* sb,
                                                    __nv_bfloat16* C) {
  const long long output = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (output >= static_cast<long long>(M) * N) return;
  const long long m = output / N;
  const long long n = output % N;
  long long sum = 0;
  for (long long k = 0; k < K; ++k) {
    sum += static_cast<long long>(A[m * K + k]) * static_cast<long long>(B[n * K + k]);
  }
  const double scaled =
      static_cast<double>(sum) * static_cast<double>(sa[m]) * static_cast<double>(sb[n]);
  C[output] = __float2bfloat16(static_cast<float>(scaled));
}
