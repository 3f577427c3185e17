// Begins at -infinity without a place: a row of -infinity has none.
extern "C" __global__ void row_peak(const float* x, float* most, int* at, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float best = -__int_as_float(0x7f800000);
  int place = -1;
  for (int c = 0; c < C; ++c) {
    if (x[(size_t)r * C + c] > best) best = x[(size_t)r * C + c], place = c;
  }
  most[r] = best, at[r] = place;
}
