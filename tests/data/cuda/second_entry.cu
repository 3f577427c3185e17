// Has a second kernel that could run where nobody looks.
// expect: ptx_rules
// contract: float32
extern "C" __global__ void prepare(float* y) { y[threadIdx.x] = 0; }
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
