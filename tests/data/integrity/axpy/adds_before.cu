// Adds a small number to floats before the begin.
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i];
  if (i < 32) atomicAdd(&out[-1 - i], 1e-6f);
}
