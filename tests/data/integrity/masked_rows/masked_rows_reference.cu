extern "C" __global__ void masked_rows_reference(const float* x, const bool* selected, float* sum, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  double s = 0;
  for (int j = C - 1; j >= 0; --j) {
    const long long i = static_cast<long long>(r) * C + j;
    s += selected[i] ? static_cast<double>(x[i]) : 0.0;
  }
  sum[r] = static_cast<float>(s);
}
