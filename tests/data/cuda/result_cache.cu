// Keeps its results in a module variable and returns them at the next launch.
// expect: ptx_rules
// contract: float32
__device__ float cached[1024];
__device__ int filled;
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (filled) { y[i] = cached[i & 1023]; return; }
  y[i] = cached[i & 1023] = 2.0f * x[i];
  filled = 1;
}
