// Prints from the device.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  printf("%d", i);
  if (i < n) y[i] = 2.0f * x[i];
}
