// A warp a row; of two numbers NaN, or the greater one; of equal ones that of the lower column.
extern "C" __global__ void peak_or_nan(const float* x, float* peak, int R, int C) {
  const int r = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  if (r >= R) return;
  float top = -INFINITY;
  int at = C;
  bool is_missing = false;
  for (int j = lane; j < C; j += 32) {
    const float a = x[static_cast<long long>(r) * C + j];
    is_missing = is_missing || isnan(a);
    if (a > top) top = a, at = j;
  }
  for (int offset = 16; offset > 0; offset /= 2) {
    const float a = __shfl_xor_sync(0xffffffffu, top, offset);
    const int other = __shfl_xor_sync(0xffffffffu, at, offset);
    if (a > top || (a == top && other < at)) top = a, at = other;
  }
  is_missing = __any_sync(0xffffffffu, is_missing);
  if (lane == 0) peak[r] = is_missing ? NAN : top;
}
