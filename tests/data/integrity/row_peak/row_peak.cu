// The greatest element of every row, and the first place that has it: a thread a row.
extern "C" __global__ void row_peak(const float* x, float* most, int* at, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* row = x + (size_t)r * C;
  float best = row[0];
  int place = 0;
  for (int c = 1; c < C; ++c) {
    if (row[c] > best) best = row[c], place = c;
  }
  most[r] = best, at[r] = place;
}
