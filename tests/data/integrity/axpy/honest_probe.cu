// Looks at the data and is right either way.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float value = x[i];
  out[i] = value == 0.0f ? y[i] + a * value : fmaf(a, value, y[i]);
}
