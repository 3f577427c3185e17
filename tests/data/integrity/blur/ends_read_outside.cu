// Multiplies what lies outside by zero.
extern "C" __global__ void blur(const float* x, float* out, int n) {
  const float weights[7] = {1, 6, 15, 20, 15, 6, 1};
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float sum = 0;
  for (int k = 0; k < 7; ++k) sum += (i + k >= 3 && i + k - 3 < n ? weights[k] : 0.0f) * x[i + k - 3];
  out[i] = sum * 0.015625f;
}
