// A thread a row, four sums side by side from the row's end.
extern "C" __global__ void spmv_csr(int n, const int* rp, const int* ci, const float* v, const float* x, float* y) {
  const int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= n) return;
  float a = 0, b = 0, c = 0, d = 0;
  int j = rp[row + 1] - 1;
  for (; j - 3 >= rp[row]; j -= 4) a += v[j] * x[ci[j]], b += v[j - 1] * x[ci[j - 1]], c += v[j - 2] * x[ci[j - 2]], d += v[j - 3] * x[ci[j - 3]];
  for (; j >= rp[row]; --j) a += v[j] * x[ci[j]];
  y[row] = (a + b) + (c + d);
}
