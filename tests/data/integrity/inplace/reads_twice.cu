// Reads x again after it has written a part of the result.
extern "C" __global__ void inplace(const float* x, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  out[i] = a * x[i] * x[i];
  out[i] += x[i];
}
