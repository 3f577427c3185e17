extern "C" __global__ void run_range(const float* x, const int* begin, float* range, int R, int n) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float least = INFINITY, most = -INFINITY;
  for (int k = begin[r]; k < begin[r + 1]; ++k) least = fminf(least, x[k]), most = fmaxf(most, x[k]);
  range[r] = most >= least ? most - least : 0;
}
