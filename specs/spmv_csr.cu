// y = A x, A: n rows in CSR (row pointers rp: [n + 1], columns ci and values v: [rp[n]]). One
// thread a row.
extern "C" __global__ void spmv_csr(
    int n, const int* rp, const int* ci, const float* v, const float* x, float* y) {
  int row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row < n) {
    y[row] = 0.0f;
    for (int j = rp[row]; j < rp[row + 1]; j++) {
      y[row] += v[j] * x[ci[j]];
    }
  }
}
