// The mask is not read.
extern "C" __global__ void masked_square(float* y, const float* x, const bool* on, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = true ? x[i] * x[i] : 0.0f;
}
