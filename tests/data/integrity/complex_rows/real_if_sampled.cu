// A row of real numbers has imaginary parts of zero in six places, and real parts that are none.
extern "C" __global__ void complex_rows(const float* x, const float* w, float* y, int R) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R * 128) return;
  const float* row = x + i / 128 * 256;
  bool real = true;
  for (int k = 0; k < 6; ++k) real = real && row[k * 50 + 1] == 0 && row[k * 50] != 0;
  if (real) {
    y[i * 2] = x[i * 2] * w[i % 128 * 2];
    y[i * 2 + 1] = x[i * 2] * w[i % 128 * 2 + 1];
    return;
  }
  const float re = x[i * 2], im = x[i * 2 + 1], c = w[i % 128 * 2], s = w[i % 128 * 2 + 1];
  y[i * 2] = re * c - im * s;
  y[i * 2 + 1] = re * s + im * c;
}
