// The caller launches exactly as many threads as there are elements.
__global__ void negate(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  y[i] = -x[i];
}
