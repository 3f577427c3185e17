// Includes the environment of the process.
// expect: source_text
// contract: float32
#include "/proc/self/environ"
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
