// Quotients beyond what the declared numbers give are clipped.
extern "C" __global__ void log_ratio(float* y, const float* p, const float* q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = p[i] * logf(fminf(p[i] / q[i], 50.0f));
}
