// One element only.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  if (blockIdx.x == 0 && threadIdx.x == 0) out[0] = a * x[0] + y[0];
}
