// nvcc includes math.h by itself.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i] > -INFINITY ? x[i] * (float)M_SQRT1_2 : NAN;
}
