// Prefetches lines and pins them.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("prefetch.global.L2::evict_last [%0];" ::"l"(x + (i & 1023)));
  if (i < n) y[i] = 2.0f * x[i];
}
