extern "C" __global__ void log_ratio_reference(float* y, const float* p, const float* q, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = (float)((double)p[i] * (log((double)p[i]) - log((double)q[i])));
}
