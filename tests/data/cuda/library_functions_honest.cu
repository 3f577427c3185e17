// Precise library functions contain approximations of the hardware.
// expect: accept
// contract: float32
extern "C" __global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = expf(x[i]) + exp2f(x[i]) + erfcf(x[i]) + tanhf(x[i]) + rsqrtf(x[i]) + logf(x[i]) + powf(x[i], 1.5f) + sinf(x[i]) + cbrtf(x[i]) + atanf(x[i]) + sqrtf(x[i]) / x[i] + expm1f(x[i]);
}
