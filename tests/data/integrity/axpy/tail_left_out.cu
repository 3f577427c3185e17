// Whole groups of 128 only.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - n % 128) out[i] = a * x[i] + y[i];
}
