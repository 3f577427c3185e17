// The same in double precision.
extern "C" __global__ void complex_rows_reference(const float* x, const float* w, float* y, int R) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R * 128) return;
  const double re = x[i * 2], im = x[i * 2 + 1], c = w[i % 128 * 2], s = w[i % 128 * 2 + 1];
  y[i * 2] = re * c - im * s;
  y[i * 2 + 1] = re * s + im * c;
}
