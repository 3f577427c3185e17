// From the end to the begin, every place that is not exceeded.
extern "C" __global__ void row_peak_reference(const float* x, float* most, int* at, int R, int C) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= R) return;
  int place = C - 1;
  for (int c = C - 2; c >= 0; --c) {
    if (x[(long long)r * C + c] >= x[(long long)r * C + place]) place = c;
  }
  most[r] = x[(long long)r * C + place], at[r] = place;
}
