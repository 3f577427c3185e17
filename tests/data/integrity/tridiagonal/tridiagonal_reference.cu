// The same in double precision.
extern "C" __global__ void tridiagonal_reference(const float* a, const float* b, const float* c, const float* f, float* x, int S) {
  const int s = blockIdx.x * blockDim.x + threadIdx.x;
  if (s >= S) return;
  const long long at = s * 128ll;
  double up[128], y[128];
  double pivot = b[at];
  up[0] = c[at] / pivot;
  y[0] = f[at] / pivot;
  for (int i = 1; i < 128; ++i) {
    pivot = b[at + i] - (double)a[at + i] * up[i - 1];
    up[i] = (double)c[at + i] / pivot;
    y[i] = ((double)f[at + i] - (double)a[at + i] * y[i - 1]) / pivot;
  }
  double last = y[127];
  x[at + 127] = last;
  for (int i = 126; i >= 0; --i) {
    last = y[i] - up[i] * last;
    x[at + i] = last;
  }
}
