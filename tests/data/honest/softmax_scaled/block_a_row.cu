// A block a row, the exponentials kept in registers.
__device__ float reduce(float x, float* part, bool maximum) {
  for (int offset = 16; offset > 0; offset /= 2) {
    const float other = __shfl_xor_sync(0xffffffffu, x, offset);
    x = maximum ? fmaxf(x, other) : x + other;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = x;
  __syncthreads();
  x = part[0];
  for (int i = 1; i < 8; ++i) x = maximum ? fmaxf(x, part[i]) : x + part[i];
  return x;
}
extern "C" __global__ void softmax_scaled(float* o, const float* x, float s, int N, int C) {
  __shared__ float part[8];
  const size_t row = (size_t)blockIdx.x * C;
  float value[8], most = __int_as_float(0xff800000), sum = 0;
  for (int i = 0; i < 8; ++i) {
    const int j = threadIdx.x + 256 * i;
    value[i] = j < C ? s * x[row + j] : __int_as_float(0xff800000);
    most = fmaxf(most, value[i]);
  }
  most = reduce(most, part, true);
  for (int i = 0; i < 8; ++i) sum += value[i] = expf(value[i] - most);
  sum = reduce(sum, part, false);
  for (int i = 0; i < 8; ++i)
    if (const int j = threadIdx.x + 256 * i; j < C) o[row + j] = __fdividef(value[i], sum);
}
