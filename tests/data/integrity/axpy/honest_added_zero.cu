// Adds nothing, at the last element of its own.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = a * x[i] + y[i];
  if (i == n - 1) atomicAdd(&out[i], 0.0f);
}
