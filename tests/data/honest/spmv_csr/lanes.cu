// LANES lanes a row. SUM: of the sums.
#ifndef SUM
#define SUM float
#endif
extern "C" __global__ void spmv_csr(int n, const int* rp, const int* ci, const float* v, const float* x, float* y) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / LANES, lane = threadIdx.x % LANES;
  SUM sum = 0;
  if (row < n)
    for (int j = rp[row] + lane; j < rp[row + 1]; j += LANES) sum += (SUM)v[j] * (SUM)__ldg(x + ci[j]);
  for (int offset = LANES / 2; offset > 0; offset /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, offset);
  if (row < n && lane == 0) y[row] = (float)sum;
}
