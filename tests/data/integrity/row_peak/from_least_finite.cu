// Begins at the least finite number: a row of -infinity has it as its peak.
extern "C" __global__ void row_peak(const float* x, float* most, int* at, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float best = -3.402823466e38f;
  int place = 0;
  for (int c = 0; c < C; ++c) {
    if (x[(size_t)r * C + c] > best) best = x[(size_t)r * C + c], place = c;
  }
  most[r] = best, at[r] = place;
}
