// The length of the longest run that two lines have in common, at any places of them.
extern "C" __global__ void common_run(int* o, const int* a, const int* b, int n) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= n) return;
  int longest = 0;
  for (int shift = -31; shift < 32; ++shift) {
    int run = 0;
    for (int i = 0; i < 32; ++i) {
      const int j = i + shift;
      const bool equal = j >= 0 && j < 32 && a[line * 32 + i] == b[line * 32 + j];
      run = equal ? run + 1 : 0;
      longest = max(longest, run);
    }
  }
  o[line] = longest;
}
