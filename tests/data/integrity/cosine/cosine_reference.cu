extern "C" __global__ void cosine_reference(float* y, const float* a, const float* b, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float *const p = a + (size_t)r * C, *const q = b + (size_t)r * C;
  double s = 0, u = 0, v = 0;
  for (int c = 0; c < C; ++c) s += (double)p[c] * q[c], u += (double)p[c] * p[c], v += (double)q[c] * q[c];
  y[r] = (float)(s / fmax(sqrt(u) * sqrt(v), 1e-8));
}
