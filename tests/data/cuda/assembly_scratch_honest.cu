// Declares a register in inline assembly.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v;
  asm("{.reg .f32 t; mov.f32 t, 0f40000000; mul.f32 %0, t, %1;}" : "=f"(v) : "f"(i < n ? x[i] : 0.0f));
  if (i < n) y[i] = v;
}
