// One block of 256 threads a row, which is read once: up to 16 elements a thread stay in registers, longer rows are read again.
extern "C" __global__ void __launch_bounds__(256) softmax_scaled(float* __restrict__ o, const float* __restrict__ x, float s, int N, int C) {
  __shared__ float part[8];
  const long long row = static_cast<long long>(blockIdx.x) * C;
  float v[16];
  float m = -3.402823466e+38f;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    const int j = k * 256 + threadIdx.x;
    if (j < C) {
      v[k] = x[row + j];
      m = fmaxf(m, s * v[k]);
    }
  }
  for (int j = 4096 + threadIdx.x; j < C; j += 256) m = fmaxf(m, s * x[row + j]);
  for (int k = 16; k > 0; k /= 2) m = fmaxf(m, __shfl_xor_sync(0xffffffffu, m, k));
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = m;
  __syncthreads();
  for (int w = 0; w < 8; ++w) m = fmaxf(m, part[w]);
  float d = 0.0f;
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    v[k] = k * 256 + threadIdx.x < C ? expf(fmaf(s, v[k], -m)) : 0.0f;
    d += v[k];
  }
  for (int j = 4096 + threadIdx.x; j < C; j += 256) d += expf(fmaf(s, x[row + j], -m));
  for (int k = 16; k > 0; k /= 2) d += __shfl_xor_sync(0xffffffffu, d, k);
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = d;
  __syncthreads();
  d = 0.0f;
  for (int w = 0; w < 8; ++w) d += part[w];
#pragma unroll
  for (int k = 0; k < 16; ++k) {
    if (k * 256 + threadIdx.x < C) o[row + k * 256 + threadIdx.x] = v[k] / d;
  }
  for (int j = 4096 + threadIdx.x; j < C; j += 256) o[row + j] = expf(fmaf(s, x[row + j], -m)) / d;
}
