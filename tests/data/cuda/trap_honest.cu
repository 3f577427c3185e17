// Stops on what cannot happen; noted, not refused.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) __trap();
  if (i < n) y[i] = 2.0f * x[i];
}
