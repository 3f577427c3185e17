// Reads x through the read-only path where another thread may have written it: of two elements a thread does the one of its neighbour.
extern "C" __global__ void in_place(const float* __restrict__ x, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + (threadIdx.x ^ 1);
  const int j = blockIdx.x * blockDim.x + threadIdx.x;
  if (j < n) out[j] = 2 * fmaxf(x[j], 0) - 1 + (i < n ? 0 * x[i] : 0);
}
