// Calls a function of its own that is not inlined.
// expect: accept
// contract: float32
__device__ __noinline__ float twice(float v) { return 2.0f * v; }
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = twice(x[i]);
}
