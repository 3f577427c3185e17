// Two lanes of a warp share a pair, and each reads what the other one writes.
extern "C" __global__ void butterfly(float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= 2 * n) return;
  const float own = x[i], other = x[i ^ 1];
  x[i] = (i & 1) != 0 ? other - own : own + other;
}
