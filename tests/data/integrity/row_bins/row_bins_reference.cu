extern "C" __global__ void row_bins_reference(const unsigned* x, const bool* selected, int* bins, bool* any, int R, int C) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= R * 16) return;
  const long long o = (long long)(i / 16) * C;
  int count = 0, all = 0;
  for (int c = 0; c < C; ++c) {
    if (!selected[o + c]) continue;
    ++all;
    if (x[o + c] / 268435456u == i % 16) ++count;
  }
  bins[i] = count;
  if (i % 16 == 0) any[i / 16] = all > 0;
}
