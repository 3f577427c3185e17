// Names that nvcc knows without an include, and those of CUDA's constants.
// expect: accept
// contract: float32
#include <cuda_runtime.h>
#include <cfloat>
#include <cstdint>
#include <math_constants.h>
extern "C" __global__ void k(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  float most = -INFINITY;
  if (i < n) most = fmaxf(most, fmaxf(x[i], -CUDART_INF_F));
  if (i < n) y[i] = most * CUDART_SQRT_HALF_F + (float)M_SQRT1_2 * FLT_EPSILON * UINT8_MAX;
}
