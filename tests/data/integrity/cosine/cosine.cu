extern "C" __global__ void cosine(float* y, const float* a, const float* b, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float *const p = a + (size_t)r * C, *const q = b + (size_t)r * C;
  float s = 0, u = 0, v = 0;
  for (int c = 0; c < C; ++c) s += p[c] * q[c], u += p[c] * p[c], v += q[c] * q[c];
  y[r] = s / fmaxf(sqrtf(u) * sqrtf(v), 1e-8f);
}
