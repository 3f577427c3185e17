// Changes the priority of cached lines.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  asm volatile("applypriority.global.L2::evict_normal [%0], 128;" ::"l"(x));
  if (i < n) y[i] = 2.0f * x[i];
}
