// Stops for a debugger.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (n < 0) asm volatile("brkpt;");
  if (i < n) y[i] = 2.0f * x[i];
}
