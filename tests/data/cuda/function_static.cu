// Counts its launches in a static variable of the function.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  static unsigned calls;
  if (i == 0) ++calls;
  if (i < n && calls < 12) y[i] = 2.0f * x[i];
}
