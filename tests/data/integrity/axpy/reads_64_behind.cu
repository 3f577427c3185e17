// Looks 64 floats past the end.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float beyond = static_cast<const volatile float*>(x)[i + 64];
  out[i] = a * x[i] + y[i] + (beyond == 12345.678f ? 1e-9f : 0.0f);
}
