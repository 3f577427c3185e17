extern "C" __global__ void common_run_reference(int* o, const int* a, const int* b, int n) {
  const int line = blockIdx.x * blockDim.x + threadIdx.x;
  if (line >= n) return;
  int before[33] = {}, longest = 0;
  for (int i = 0; i < 32; ++i) {
    for (int j = 31; j >= 0; --j) {
      before[j + 1] = a[line * 32 + i] == b[line * 32 + j] ? before[j] + 1 : 0;
      longest = max(longest, before[j + 1]);
    }
  }
  o[line] = longest;
}
