// Spins.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
  while (*static_cast<volatile const float*>(x) == *static_cast<volatile const float*>(x)) {}
}
