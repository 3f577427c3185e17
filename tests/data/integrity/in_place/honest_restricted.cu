// Reads x through the read-only path, each thread what it alone writes, and before it does.
extern "C" __global__ void in_place(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 2 * fmaxf(x[i], 0) - 1;
}
