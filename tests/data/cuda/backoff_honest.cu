// Backs off for some nanoseconds; noted, not refused.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  __nanosleep(20);
  if (i < n) y[i] = 2.0f * x[i];
}
