extern "C" __global__ void masked_rows(const float* x, const bool* selected, float* sum, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  float s = 0;
  for (int j = 0; j < C; ++j) {
    const long long i = static_cast<long long>(r) * C + j;
    if (selected[i]) s += x[i];
  }
  sum[r] = s;
}
