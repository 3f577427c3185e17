// Two lanes of a warp share a pair, and exchange what they read.
extern "C" __global__ void butterfly(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const float own = i < 2 * n ? x[i] : 0, other = __shfl_xor_sync(0xffffffffu, own, 1);
  if (i < 2 * n) x[i] = (i & 1) != 0 ? other - own : own + other;
}
