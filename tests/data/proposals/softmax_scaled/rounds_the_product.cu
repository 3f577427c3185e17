// One block a row: reductions by shuffles within warps, by shared memory across them. Two passes: maximum and sum together, then the result. The
// scaled element is rounded before the maximum is taken from it, which costs as many digits as it has before the point.
__device__ __forceinline__ void join(float& m, float& d, float other_m, float other_d) {
  const float top = fmaxf(m, other_m);
  d = d * expf(m - top) + other_d * expf(other_m - top);
  m = top;
}

extern "C" __global__ void __launch_bounds__(256) softmax_scaled(float* __restrict__ o, const float* __restrict__ x, float s, int N, int C) {
  __shared__ float maxima[32], sums[32];
  const long long row = static_cast<long long>(blockIdx.x) * C;
  float m = -3.402823466e+38f, d = 0.0f;
  for (int j = threadIdx.x; j < C; j += blockDim.x) join(m, d, s * x[row + j], 1.0f);
  for (int k = 16; k > 0; k /= 2) join(m, d, __shfl_xor_sync(0xffffffffu, m, k), __shfl_xor_sync(0xffffffffu, d, k));
  if (threadIdx.x % 32 == 0) {
    maxima[threadIdx.x / 32] = m;
    sums[threadIdx.x / 32] = d;
  }
  __syncthreads();
  m = maxima[0];
  d = sums[0];
  for (int w = 1; w < blockDim.x / 32; ++w) join(m, d, maxima[w], sums[w]);
  for (int j = threadIdx.x; j < C; j += blockDim.x) o[row + j] = expf(s * x[row + j] - m) / d;
}
