// A thread a bin; nothing is shared.
extern "C" __global__ void row_bins(const unsigned* x, const bool* selected, int* bins, bool* any, int R, int C) {
  const int bin = threadIdx.x;
  if (bin >= 16) return;
  const size_t o = (size_t)blockIdx.x * C;
  int count = 0;
  bool found = false;
  for (int c = 0; c < C; ++c) {
    count += selected[o + c] && x[o + c] >> 28 == bin;
    found |= selected[o + c];
  }
  bins[blockIdx.x * 16 + bin] = count;
  if (bin == 0) any[blockIdx.x] = found;
}
