// Writes a cache policy as a number.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  if (i < n) asm volatile("ld.global.L2::cache_hint.f32 %0, [%1], %2;" : "=f"(v) : "l"(x + i), "l"(0x14F0000000000000ULL));
  if (i < n) y[i] = 2.0f * v;
}
