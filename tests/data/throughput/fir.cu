// y[i] = sum over k of taps[k] * x[i + k], 42 taps. WORK outputs a thread, UNROLL taps at a time; STAGED: x through shared memory.
constexpr int kTaps = 42;
constexpr int kUnroll = UNROLL;  // a macro is not expanded in a pragma

#if STAGED
extern "C" __global__ void __launch_bounds__(BLOCK) fir(const float* __restrict__ x, const float* __restrict__ taps, float* __restrict__ y, int n) {
  __shared__ float line[BLOCK * WORK + kTaps - 1];
  const int begin = blockIdx.x * BLOCK * WORK;
  for (int e = threadIdx.x; e < BLOCK * WORK + kTaps - 1; e += BLOCK) line[e] = begin + e < n + kTaps - 1 ? x[begin + e] : 0.0f;
  __syncthreads();
  float sum[WORK] = {};
#pragma unroll kUnroll
  for (int k = 0; k < kTaps; ++k) {
    const float tap = taps[k];
#pragma unroll
    for (int w = 0; w < WORK; ++w) sum[w] += tap * line[threadIdx.x + w * BLOCK + k];
  }
#pragma unroll
  for (int w = 0; w < WORK; ++w) {
    const int i = begin + threadIdx.x + w * BLOCK;
    if (i < n) y[i] = sum[w];
  }
}
#else
extern "C" __global__ void __launch_bounds__(BLOCK) fir(const float* __restrict__ x, const float* __restrict__ taps, float* __restrict__ y, int n) {
  const int begin = blockIdx.x * BLOCK * WORK + threadIdx.x;
  float sum[WORK] = {};
#pragma unroll kUnroll
  for (int k = 0; k < kTaps; ++k) {
    const float tap = taps[k];
#pragma unroll
    for (int w = 0; w < WORK; ++w) {
      const int i = begin + w * BLOCK;
      if (i < n) sum[w] += tap * x[i + k];
    }
  }
#pragma unroll
  for (int w = 0; w < WORK; ++w) {
    const int i = begin + w * BLOCK;
    if (i < n) y[i] = sum[w];
  }
}
#endif
