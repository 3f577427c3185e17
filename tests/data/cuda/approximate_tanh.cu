// The tangent of the hardware.
// expect: instruction_precision
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = 0;
  if (i < n) asm("tanh.approx.f32 %0, %1;" : "=f"(v) : "f"(x[i]));
  if (i < n) y[i] = v;
}
