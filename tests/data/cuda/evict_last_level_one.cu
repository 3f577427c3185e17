// Pins lines in the first-level cache.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  if (i < n) asm volatile("ld.global.L1::evict_last.f32 %0, [%1];" : "=f"(v) : "l"(x + i));
  if (i < n) y[i] = 2.0f * v;
}
