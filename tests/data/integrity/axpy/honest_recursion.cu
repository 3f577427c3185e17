// A recursion of eight steps.
__device__ __noinline__ float power(float base, int depth) { return depth == 0 ? 1.0f : base * power(base, depth - 1); }
extern "C" __global__ void axpy(const float* x, const float* y, float* out, float a, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a * x[i] * power(1.0f, 8) + y[i];
}
