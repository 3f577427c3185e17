extern "C" __global__ void first_least(const float* x, int* at, int R, int C) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  float least = x[c];
  int row = 0;
  for (int r = 1; r < R; ++r) {
    const float v = x[(long long)r * C + c];
    if (v < least) {
      least = v;
      row = r;
    }
  }
  at[c] = row;
}
