// In double precision.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<float>(fma(static_cast<double>(a), static_cast<double>(x[i]), static_cast<double>(y[i])));
}
