// A thread a row.
extern "C" __global__ void inversions_reference(const int* x, int* count, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  int all = 0;
  for (int b = 0; b < C; ++b) {
    for (int a = 0; a < b; ++a) all += x[(long long)r * C + b] < x[(long long)r * C + a];
  }
  count[r] = all;
}
