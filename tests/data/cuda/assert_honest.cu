// An assertion is compiled away.
// expect: accept
// contract: float32
#include <assert.h>
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  assert(i >= 0);
  if (i < n) y[i] = 2.0f * x[i];
}
