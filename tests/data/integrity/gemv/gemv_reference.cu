extern "C" __global__ void gemv_reference(float* y, const float* a, const float* x, const float* z, const float* bias, float alpha, float beta, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  double s = 0;
  for (int c = 0; c < C; ++c) s += (double)a[(size_t)r * C + c] * x[c];
  y[r] = (float)(alpha * s + (double)beta * z[r] + bias[r]);
}
