// The logistic function by tanh, whose error is absolute: where it is nearly zero nothing of it is left.
extern "C" __global__ void gated(float* y, const float* gate, const float* x, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = 0.5f * gate[i] * (1.0f + tanhf(0.5f * gate[i])) * x[i];
}
