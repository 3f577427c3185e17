// Writes where the output was cleared.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && out[i] == 0.0f) out[i] = a * x[i] + y[i];
}
