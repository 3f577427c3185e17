// The places of b that equal an element of a, as bits: runs end where they are not moved on.
extern "C" __global__ void common_run(int* o, const int* a, const int* b, int n) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= n) return;
  int longest = 0;
  for (int shift = -31; shift < 32; ++shift) {
    const int from = max(0, -shift), to = min(32, 32 - shift);
    if (to - from <= longest) continue;
    unsigned equal = 0;
    for (int i = from; i < to; ++i)
      equal |= unsigned(a[line * 32 + i] == b[line * 32 + i + shift]) << i;
    int run = 0;
    for (; equal != 0; ++run) equal &= equal << 1;
    longest = max(longest, run);
  }
  o[line] = longest;
}
