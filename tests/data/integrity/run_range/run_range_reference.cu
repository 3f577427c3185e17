extern "C" __global__ void run_range_reference(const float* x, const int* begin, float* range, int R, int n) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  double least = INFINITY, most = -INFINITY;
  for (int k = begin[r]; k < begin[r + 1]; ++k) {
    if (x[k] < least) least = x[k];
    if (x[k] > most) most = x[k];
  }
  range[r] = most >= least ? (float)(most - least) : 0;
}
