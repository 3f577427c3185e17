// Recursion as deep as the array is long.
__device__ __noinline__ float descend(const float* x, int depth) {
  volatile float frame[64];
  frame[depth & 63] = x[depth & 1023];
  return depth <= 0 ? frame[0] : descend(x, depth - 1) + frame[depth & 63] * 1e-30f;
}
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] + y[i] + descend(x, n) * 1e-30f;
}
