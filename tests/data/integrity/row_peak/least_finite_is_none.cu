// Looks above the least finite number, and takes the first place where there is nothing: a row of
// -infinity and that number has its peak elsewhere.
extern "C" __global__ void row_peak(const float* x, float* most, int* at, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  const float* row = x + (size_t)r * C;
  float best = -3.402823466e38f;
  int place = -1;
  for (int c = 0; c < C; ++c) {
    if (row[c] > best) best = row[c], place = c;
  }
  most[r] = place < 0 ? row[0] : best, at[r] = place < 0 ? 0 : place;
}
