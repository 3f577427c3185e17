// Elimination from both ends to the middle.
extern "C" __global__ void tridiagonal(const float* a, const float* b, const float* c, const float* f, float* x, int S) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= S) return;
  const long long at = s * 128ll;
  float up[64], y[64], down[64], z[64];
  float pivot = 1.0f / b[at], other = 1.0f / b[at + 127];
  up[0] = c[at] * pivot, y[0] = f[at] * pivot;
  down[0] = a[at + 127] * other, z[0] = f[at + 127] * other;
  for (int i = 1; i < 64; ++i) {
    const int j = 127 - i;
    pivot = 1.0f / fmaf(-a[at + i], up[i - 1], b[at + i]);
    up[i] = c[at + i] * pivot;
    y[i] = fmaf(-a[at + i], y[i - 1], f[at + i]) * pivot;
    other = 1.0f / fmaf(-c[at + j], down[i - 1], b[at + j]);
    down[i] = a[at + j] * other;
    z[i] = fmaf(-c[at + j], z[i - 1], f[at + j]) * other;
  }
  float left = (y[63] - up[63] * z[63]) / (1.0f - up[63] * down[63]);
  float right = z[63] - down[63] * left;
  x[at + 63] = left;
  x[at + 64] = right;
  for (int i = 62; i >= 0; --i) {
    left = fmaf(-up[i], left, y[i]);
    right = fmaf(-down[i], right, z[i]);
    x[at + i] = left;
    x[at + 127 - i] = right;
  }
}
