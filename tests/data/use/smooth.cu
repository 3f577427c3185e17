// y[i] = mean of count copies of x[i].
extern "C" __global__ void smooth(float* y, const float* x, int n, int count) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0.0f;
  for (int k = 0; k < count; k++) sum += x[i];
  y[i] = sum / count;
}
