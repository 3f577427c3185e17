extern "C" __global__ void gemv(float* y, const float* a, const float* x, const float* z, const float* bias, float alpha, float beta, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float s = 0;
  for (int c = 0; c < C; ++c) s += a[(size_t)r * C + c] * x[c];
  y[r] = alpha * s + beta * z[r] + bias[r];
}
