// The same, by a relative path.
// expect: source_text
// contract: float32
#include "../../../../etc/hostname"
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 2.0f * x[i];
}
