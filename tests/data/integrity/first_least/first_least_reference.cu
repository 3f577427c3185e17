extern "C" __global__ void first_least_reference(const float* x, int* at, int R, int C) {
  const int c = blockIdx.x * blockDim.x + threadIdx.x;
  if (c >= C) return;
  int row = 0;
  for (int r = 1; r < R; ++r) {
    if ((double)x[(long long)r * C + c] < (double)x[(long long)row * C + c]) row = r;
  }
  at[c] = row;
}
