// Has a second kernel, as real files do: it is left out.
// expect: accept
// contract: float32
extern "C" __global__ void prepare(float* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
