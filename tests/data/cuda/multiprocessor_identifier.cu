// Behaves by where it runs.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned s;
  asm volatile("mov.u32 %0, %%smid;" : "=r"(s));
  if (s > 200) return;
  if (i < n) y[i] = 2.0f * x[i];
}
