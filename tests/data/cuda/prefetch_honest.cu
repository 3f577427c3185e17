// Prefetches what this launch reads next; noted, not refused.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 4096 < n) asm volatile("prefetch.global.L2 [%0];" ::"l"(x + i + 4096));
  if (i < n) y[i] = 2.0f * x[i];
}
