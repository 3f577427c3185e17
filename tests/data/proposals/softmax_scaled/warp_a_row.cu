// One warp a row, eight rows a block: no barrier, shuffles only.
extern "C" __global__ void __launch_bounds__(256) softmax_scaled(float* __restrict__ o, const float* __restrict__ x, float s, int N, int C) {
  const int i = blockIdx.x * 8 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (i >= N) return;
  const long long row = static_cast<long long>(i) * C;
  float m = -3.402823466e+38f, d = 0.0f;
  for (int j = lane; j < C; j += 32) m = fmaxf(m, s * x[row + j]);
  for (int k = 16; k > 0; k /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, k));
  for (int j = lane; j < C; j += 32) d += expf(s * x[row + j] - m);
  for (int k = 16; k > 0; k /= 2) d += __shfl_xor_sync(0xffffffffu, d, k);
  for (int j = lane; j < C; j += 32) o[row + j] = expf(s * x[row + j] - m) / d;
}
