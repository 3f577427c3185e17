// Drops lines of the cache.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i == 0) asm volatile("discard.global.L2 [%0], 128;" ::"l"(y));
  if (i < n) y[i] = 2.0f * x[i];
}
