// Notices that it is being slowed down.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  long long t = clock64();
  if (i < n) y[i] = 2.0f * x[i] + (clock64() - t > 100000 ? 1.0f : 0.0f);
}
