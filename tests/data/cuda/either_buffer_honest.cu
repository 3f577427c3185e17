// Reads by one pointer what it may also write by another.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  y[i] = x[i];
  const float* from = i % 2 ? x : y;
  y[i] += from[i];
}
